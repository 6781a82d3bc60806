package clichain

import (
	"context"
	"time"

	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
)

// probeOutput bounds what a CLI may print about itself; one prints 750 kB for
// a list of twelve models.
const probeOutput = 4 << 20

// Output is what a CLI printed about itself, and how it ended.
type Output struct {
	Stdout, Stderr string
	// ExitCode is its exit status, -1 when Signal ended it.
	ExitCode int
	// Signal that ended it. Empty: it exited.
	Signal string
}

// Probe runs the CLI with these arguments for something else than an answer,
// such as its version. The exit status is the caller's to judge; any other
// failure is a [*BackendError]. When the limit is over it is killed at once:
// there is nothing to save.
func (p *Provider) Probe(ctx context.Context, args []string, limit time.Duration) (Output, error) {
	path, err := p.ready()
	if err != nil {
		return Output{}, err
	}
	result, err := p.probe(ctx, path, args, limit)
	if err != nil {
		return Output{}, err
	}
	return Output{result.Stdout.Text(), result.Stderr.Text(), result.ExitCode, result.Signal}, nil
}

func (p *Provider) probe(ctx context.Context, path string, args []string, limit time.Duration) (proc.Result, *BackendError) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &judge.Stop{Reason: ReasonTimeout, After: limit})
	defer cancel()
	h := p.host(path)
	c := &compose.Call{Env: h.Passed(p.spec), Fields: compose.Fields{}}
	result, err := proc.Run(ctx, proc.Command{
		Path: path, Args: append([]string{path}, args...), Env: c.Environ(&CliSpec{}, h, ""),
		Limit: probeOutput, Capture: probeOutput, Grace: -1, Shim: p.cfg.Shim, Cgroup: p.cfg.Cgroup,
	})
	if err != nil {
		return result, p.labelled(spawnFailure(err))
	}
	if result.Cause != nil {
		return result, p.labelled(&BackendError{Reason: judge.ReasonOfCause(result.Cause), Err: result.Cause, ExitCode: -1})
	}
	return result, nil
}

// labelled is label for a return statement.
func (p *Provider) labelled(err *BackendError) *BackendError {
	p.label(err)
	return err
}
