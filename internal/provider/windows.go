package provider

import (
	"bytes"
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
		if windows := o.latestWindows(sessionfile.Tail(path), now); len(windows) > 0 {
			return windows
		}
	}
	return t.Quota
}

// latestWindows returns the usage windows in the last line that has some.
func (o *outcome) latestWindows(lines []byte, now time.Time) []call.QuotaWindow {
	var scratch decode.Scratch
	for _, line := range slices.Backward(bytes.Split(lines, []byte("\n"))) {
		items, _ := o.Program().Line(&scratch, line)
		for i := range items {
			if windows := o.Judge().Windows(items[i].Quota, now); len(windows) > 0 {
				return windows
			}
		}
	}
	return nil
}
