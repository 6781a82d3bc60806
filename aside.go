package clichain

import (
	"context"
	"time"

	"github.com/clichain/clichain/internal/proc"
)

// asideOutput bounds what a CLI may print about itself; one prints 750 kB for
// a list of twelve models.
const asideOutput = 4 << 20

// aside runs the CLI for something else than an answer, such as its models. The
// exit status is the caller's to judge; any other failure is an error. When the
// time is over it is killed at once: there is nothing to save.
func (p *Provider) aside(ctx context.Context, path string, args []string, limit time.Duration) (proc.Result, *BackendError) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &stopError{ReasonTimeout, limit})
	defer cancel()
	h := p.host(path)
	c := &call{env: h.passed(&p.spec.CliSpec), fields: fields{}}
	result, err := proc.Run(ctx, proc.Command{
		Path: path, Args: append([]string{path}, args...), Env: c.environ(&CliSpec{}, h, ""),
		Limit: asideOutput, Capture: asideOutput, Grace: -1, Shim: p.cfg.Shim, Cgroup: p.cfg.Cgroup,
	})
	if err != nil {
		return result, p.signed(spawnFailure(err))
	}
	if result.Cause != nil {
		return result, p.signed(&BackendError{Reason: reasonOfCause(result.Cause), Err: result.Cause, ExitCode: -1})
	}
	return result, nil
}

func (p *Provider) signed(err *BackendError) *BackendError {
	p.sign(err)
	return err
}
