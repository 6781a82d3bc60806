package clichain

import (
	"context"
	"strings"
	"time"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/localfile"
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
	result, secrets, err := p.probe(ctx, path, args, limit)
	if err != nil {
		return runs.Output{}, err
	}
	return runs.Output{
		Stdout: secrets.Clean(result.Stdout.Text()), Stderr: secrets.Clean(result.Stderr.Text()),
		ExitCode: result.ExitCode, Signal: result.Signal,
	}, nil
}

func (p *Provider) probe(
	ctx context.Context, path string, args []string, limit time.Duration,
) (proc.Result, *plaintext.Redactor, *BackendError) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &judge.Stop{Reason: ReasonTimeout, After: limit})
	defer cancel()
	dir, err := p.probeDir()
	if err != nil {
		return proc.Result{}, nil, p.label(err)
	}
	h := p.host(path)
	c := &compose.Call{Env: p.passed(&h, dir, ""), Fields: compose.Fields{}}
	environ := c.Environ(&CliSpec{}, h, dir)
	result, failed := proc.Run(ctx, proc.Command{
		Path: path, Args: append([]string{path}, args...), Env: environ, Dir: dir,
		Limit: probeOutput, Capture: probeOutput, Grace: -1, Shim: p.cfg.Shim, Cgroup: p.cfg.Cgroup,
	})
	if failed != nil {
		return result, nil, p.label(spawnFailure(failed))
	}
	if result.Cause != nil {
		return result, nil, p.label(&BackendError{Reason: judge.ReasonOfCause(result.Cause), Err: result.Cause, ExitCode: -1})
	}
	return result, plaintext.NewRedactor(environ), nil
}

// probeDir is the empty directory, made ready: what a CLI says about itself is
// not asked in a directory that may have settings or plugins.
func (p *Provider) probeDir() (string, *BackendError) {
	if p.cfg.Container != nil {
		return "", nil
	}
	dir, err := p.emptyDir()
	if err != nil {
		return "", err
	}
	if err := localfile.KeepEmpty(dir, p.spec.GuardFiles); err != nil {
		return "", noEmptyDir(err)
	}
	return dir, nil
}

// modelListTime bounds the command that lists models. Some CLIs need seconds to
// start.
const modelListTime = 15 * time.Second

// Models lists the models that the CLI says it offers, in its order, without
// asking one of them. It is empty, without an error, where the CLI has no
// command for that, and in a container. The error is a [*BackendError]. It
// takes 15 s at most.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	path, err := p.ready()
	if err != nil {
		return nil, err
	}
	rule := p.spec.Models.List
	if len(rule.Args) == 0 || p.cfg.Container != nil {
		return nil, nil
	}
	result, secrets, err := p.probe(ctx, path, rule.Args, modelListTime)
	if err != nil {
		return nil, err
	}
	ev := &judge.Evidence{
		Output: clispec.OutputText, Tally: new(judge.Tally), Result: result, Now: time.Now(),
		Stdout: result.Stdout.Text(), Stderr: secrets.Clean(result.Stderr.Text()), Secrets: secrets,
	}
	ev.Said = ev.Stderr
	if result.ExitCode != 0 || result.Signal != "" {
		err := p.judge.Unexplained(ev).Err
		p.judge.Complete(err, ev)
		redactError(secrets, err)
		return nil, err
	}
	names, ok := readList(rule, ev.Stdout)
	if !ok {
		return nil, p.label(&BackendError{Reason: ReasonBadOutput, Message: "the list of models could not be read"})
	}
	return names, nil
}

// readList takes the names out of what the command printed.
func readList(r clispec.ListRule, text string) (names []string, ok bool) {
	text = plaintext.Escapes.ReplaceAllString(text, "")
	if r.Path == "" {
		return strings.Fields(text), true
	}
	for _, doc := range jsontext.Objects([]byte(text)) {
		for _, name := range doc.Get(r.Path).Array() {
			if name.Type == gjson.String && name.Str != "" {
				names = append(names, name.Str)
			}
		}
	}
	return names, len(names) > 0
}
