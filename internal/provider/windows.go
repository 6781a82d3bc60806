package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/sessionfile"
)

// sessionName matches the ids of sessions that can be part of a file name.
var sessionName = pattern.Of(`^\w[\w.-]*$`)

// windows returns the usage windows of the plan that the run reported, or those in the file of its session.
func (o *outcome) windows(now time.Time) []call.QuotaWindow {
	t, file := o.ev.Tally, o.Spec.Quota.File
	if t.KnowsUsed() || file == "" || o.plan.box != nil || !sessionName().MatchString(t.Session) {
		return t.Quota
	}
	// ReadPath cannot fail, because Validate has parsed the path.
	template, _ := grammar.ReadPath(strings.ReplaceAll(file, "{session}", t.Session))
	paths, _ := template.Paths(login.PlaceOf(o.plan.Call.Env, o.plan.Dir))
	for _, path := range paths {
		if windows := o.latestWindows(o.Program(), sessionfile.Tail(path), now); len(windows) > 0 {
			return windows
		}
	}
	return t.Quota
}

// latestWindows returns the usage windows in the last line that has some.
func (p *Provider) latestWindows(program *decode.Program, lines []byte, now time.Time) []call.QuotaWindow {
	var scratch decode.Scratch
	for _, line := range slices.Backward(bytes.Split(lines, []byte("\n"))) {
		items, _ := program.Line(&scratch, line)
		for i := range items {
			if windows := p.Judge().Windows(items[i].Quota, now); len(windows) > 0 {
				return windows
			}
		}
	}
	return nil
}

// AsksQuota reports whether the CLI can be asked for its usage windows.
func (p *Provider) AsksQuota() bool { return p.Spec.Quota.Ask.Method != "" && !p.InContainer() }

// AskQuota asks the CLI for the usage windows of its plan, without a request to a model. The list is empty if the CLI
// cannot be asked, or does not know them.
func (p *Provider) AskQuota(ctx context.Context) ([]call.QuotaWindow, *call.Error) {
	path, err := p.Find()
	if err != nil {
		return nil, err
	}
	if !p.AsksQuota() {
		return nil, nil
	}
	ask := p.Spec.Quota.Ask
	result, err := p.query(ctx, path, ask, max(minListTime, p.Settings.Timeout))
	if err != nil {
		return nil, err
	}
	line, broken := json.Marshal(map[string]any{"method": ask.Method, "result": result})
	if broken != nil {
		return nil, nil
	}
	return p.latestWindows(p.LiveProgram(), line, time.Now()), nil
}
