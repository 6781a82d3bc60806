package clichain

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/runs"
	"github.com/tidwall/gjson"
)

// probeOutput bounds what a CLI may print about itself; one prints 750 kB for
// a list of twelve models.
const probeOutput = 4 << 20

// Probe runs the CLI with these arguments for something else than an answer,
// such as its version. The exit status is the caller's to judge; any other
// failure is a [*BackendError]. When the limit is over it is killed at once:
// there is nothing to save.
func (p *Provider) Probe(ctx context.Context, args []string, limit time.Duration) (runs.Output, error) {
	path, err := p.ready()
	if err != nil {
		return runs.Output{}, err
	}
	result, secrets, err := p.probe(ctx, path, p.cfg.Billing, args, limit)
	if err != nil {
		return runs.Output{}, err
	}
	return runs.Output{
		Stdout: secrets.Clean(result.Stdout.Text()), Stderr: secrets.CleanDisguised(result.Stderr.Text()),
		ExitCode: result.ExitCode, Signal: result.Signal,
	}, nil
}

func (p *Provider) probe(
	ctx context.Context, path string, payer call.Billing, args []string, limit time.Duration,
) (proc.Result, *plaintext.Redactor, *BackendError) {
	ctx, cancel := judge.Within(ctx, limit)
	defer cancel()
	dir, err := p.probeDir()
	if err != nil {
		return proc.Result{}, nil, p.label(err)
	}
	h := p.host(path, payer)
	c := &compose.Call{Env: p.passed(&h, dir, ""), Fields: compose.Fields{}}
	environ := c.Environ(&CliSpec{}, h, dir)
	result, failed := proc.Run(ctx, proc.Command{
		Path: path, Args: append([]string{path}, args...), Env: environ, Dir: dir,
		Limit: probeOutput, Capture: probeOutput, Grace: -1, Shim: p.cfg.Shim, Cgroup: p.cfg.Cgroup,
	})
	if failed != nil {
		return result, nil, p.label(spawnFailure(judge.Ended(ctx, failed)))
	}
	if cause := judge.Ended(ctx, result.Cause); cause != nil {
		return result, nil, p.label(&BackendError{Reason: judge.ReasonOfCause(cause), Err: cause, ExitCode: -1})
	}
	return result, plaintext.NewRedactor(environ), nil
}

// probeDir is the empty directory, made ready: what a CLI says about itself is
// not asked in a directory that may have settings or plugins.
func (p *Provider) probeDir() (string, *BackendError) {
	if p.cfg.Container != nil {
		return "", nil
	}
	return p.workdir().Empty(false, true)
}

// minListTime is what every source of the list of models may take. Some CLIs need
// seconds to start.
const minListTime = 15 * time.Second

func (p *Provider) listTime() time.Duration { return max(minListTime, p.cfg.Timeout) }

// Models lists the models that the CLI says it offers, in its order, with what it tells
// of them, without asking one of them. It is empty, without an error, where the CLI has
// no way to list them, and in a container. The error is a [*BackendError]. It takes
// Config.Timeout at most, but not less than 15 s, for each source of the list; codex has
// two.
func (p *Provider) Models(ctx context.Context) ([]call.Model, error) {
	path, err := p.ready()
	if err != nil {
		return nil, err
	}
	if p.cfg.Container != nil {
		return nil, nil
	}
	var models []call.Model
	for i, rule := range p.spec.Models.List {
		found, err := p.listed(ctx, path, rule)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			models = found
		} else {
			addTo(models, found)
		}
	}
	return models, nil
}

// listed asks one source of the list of models.
func (p *Provider) listed(ctx context.Context, path string, rule clispec.ListRule) ([]call.Model, *BackendError) {
	ask := p.listedByCommand
	if rule.Live.Method != "" {
		ask = p.listedLive
	}
	text, err := ask(ctx, path, rule)
	if err != nil {
		return nil, err
	}
	models, ok := readModels(rule, text)
	if !ok {
		return nil, p.label(&BackendError{Reason: ReasonBadOutput, Message: "the list of models could not be read"})
	}
	return models, nil
}

func (p *Provider) listedByCommand(ctx context.Context, path string, rule clispec.ListRule) (string, *BackendError) {
	result, secrets, err := p.probe(ctx, path, p.cfg.Billing, rule.Args, p.listTime())
	if err != nil {
		return "", err
	}
	ev := &judge.Evidence{
		Output: clispec.OutputText, Tally: new(judge.Tally), Result: result, Now: time.Now(),
		Stdout: result.Stdout.Text(), Stderr: secrets.Clean(result.Stderr.Text()), Secrets: secrets,
	}
	ev.Said = ev.Stderr
	if result.ExitCode != 0 || result.Signal != "" {
		err := p.unexplained(ev)
		redactError(secrets, err)
		return "", err
	}
	return plaintext.Escapes().ReplaceAllString(ev.Stdout, ""), nil
}

// listedLive asks the CLI in its live mode, in which it tells more.
func (p *Provider) listedLive(ctx context.Context, path string, rule clispec.ListRule) (string, *BackendError) {
	ctx, cancel := judge.Within(ctx, p.listTime())
	defer cancel()
	m := mode{output: clispec.OutputLive, temp: p.tempDir(), starts: true}
	inv, box, err := p.compose(path, unasked(Request{}), nil, m)
	if err != nil {
		return "", p.label(err)
	}
	made := &plan{Invocation: inv, bill: &login.Bill{}, box: box}
	remove, err := made.makeFiles()
	if err != nil {
		remove()
		return "", p.label(err)
	}
	result, err := held.Query(ctx, p.holding(ctx, made, remove, nil, purpose{}), rule.Live)
	return string(result), p.label(err)
}

// readModels takes the models out of what a source says.
func readModels(r clispec.ListRule, text string) (models []call.Model, ok bool) {
	if r.Path == "" {
		for _, name := range strings.Fields(text) {
			models = append(models, call.Model{Name: name})
		}
		return models, true
	}
	for _, doc := range jsontext.Objects([]byte(text)) {
		for _, element := range doc.Get(r.Path).Array() {
			if m := modelOf(r, element); m.Name != "" {
				models = append(models, m)
			}
		}
	}
	return models, len(models) > 0
}

func modelOf(r clispec.ListRule, element gjson.Result) (m call.Model) {
	if len(r.Set) == 0 {
		if element.Type == gjson.String {
			m.Name = element.Str
		}
		return m
	}
	value := func(field string) gjson.Result {
		if r.Set[field] == "" {
			return gjson.Result{}
		}
		return element.Get(r.Set[field])
	}
	texts := func(field string) (list []string) {
		for _, v := range value(field).Array() {
			list = append(list, v.String())
		}
		return list
	}
	return call.Model{
		Name: value("name").String(), Title: value("title").String(), Default: value("default").Bool(),
		DefaultEffort: value("default_effort").String(), Efforts: texts("efforts"),
		Context: value("context").Int(), Inputs: texts("inputs"),
	}
}

// addTo adds to the models what another source knows of them.
func addTo(models, more []call.Model) {
	for i := range models {
		m := &models[i]
		for _, also := range more {
			if also.Name == m.Name {
				m.Title, m.DefaultEffort = cmp.Or(m.Title, also.Title), cmp.Or(m.DefaultEffort, also.DefaultEffort)
				m.Context, m.Default = cmp.Or(m.Context, also.Context), m.Default || also.Default
				if len(m.Efforts) == 0 {
					m.Efforts = also.Efforts
				}
				if len(m.Inputs) == 0 {
					m.Inputs = also.Inputs
				}
			}
		}
	}
}
