package backend

import (
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/runs"
)

// maxCommandOutput limits the output of a command that describes the CLI, in bytes. One CLI prints 750 kB for a
// list of twelve models.
const maxCommandOutput = 4 << 20

// Probe runs the CLI with these arguments, for a purpose other than an answer. The error is nil if the program
// ran to its end.
func (b *Backend) Probe(ctx context.Context, args []string, limit time.Duration) (runs.Output, *call.Error) {
	path, err := b.Find()
	if err != nil {
		return runs.Output{}, err
	}
	result, secrets, err := b.Run(ctx, path, b.Settings.Billing, args, limit)
	if err != nil {
		return runs.Output{}, err
	}
	return runs.Output{
		Stdout: secrets.Clean(result.Stdout.Text()), Stderr: secrets.CleanDisguised(result.Stderr.Text()),
		ExitCode: result.ExitCode, Signal: result.Signal,
	}, nil
}

// Run runs the program with these arguments in an empty directory, and kills it at the limit. The redactor
// knows the secrets in the environment of the program.
func (b *Backend) Run(
	ctx context.Context, path string, payer call.Billing, args []string, limit time.Duration,
) (proc.Result, *plaintext.Redactor, *call.Error) {
	ctx, cancel := judge.Within(ctx, limit)
	defer cancel()
	dir := ""
	if !b.InContainer() {
		var err *call.Error
		if dir, err = b.Workdir().Empty(false, true); err != nil {
			return proc.Result{}, nil, b.Label(err)
		}
	}
	h := b.Host(path, payer)
	c := &compose.Call{Env: b.Passed(&h, dir, ""), Fields: compose.Fields{}}
	environ := c.Environ(&clispec.Spec{}, h, dir)
	result, failed := proc.Run(ctx, proc.Command{
		Path: path, Args: append([]string{path}, args...), Env: environ, Dir: dir,
		Limit: maxCommandOutput, Capture: maxCommandOutput, Grace: -1, Shim: b.Settings.Shim, Cgroup: b.Settings.Cgroup,
	})
	if failed != nil {
		return result, nil, b.Label(SpawnFailure(judge.Ended(ctx, failed)))
	}
	if cause := judge.Ended(ctx, result.Cause); cause != nil {
		return result, nil, b.Label(&call.Error{Reason: judge.ReasonOfCause(cause), Err: cause, ExitCode: -1})
	}
	return result, plaintext.NewRedactor(environ), nil
}

// Unexplained returns the error of a failed run that was not to give an answer, according to its output.
func (b *Backend) Unexplained(ev *judge.Evidence) *call.Error {
	err := b.Judge().Unexplained(ev).Err
	b.Judge().Complete(err, ev)
	return err
}

// SpawnFailure returns the error of a program that could not be started.
func SpawnFailure(err error) *call.Error {
	be := &call.Error{Reason: call.ReasonSpawn, Message: err.Error(), ExitCode: -1, Err: err, Stage: call.StageSkipped}
	var spawn *proc.SpawnError
	switch {
	case !errors.As(err, &spawn): // the context ended first
		be.Reason, be.Message = judge.ReasonOfCause(err), ""
	case spawn.Kind == proc.NotFound:
		be.Reason = call.ReasonNotInstalled
	case spawn.Kind == proc.Confine:
		be.Reason = call.ReasonUnconfined
		be.Advice = []call.Advice{{Action: call.ActionSet, Field: "config.confine", Value: string(call.ConfineOff)}}
	case spawn.Kind == proc.ArgTooBig:
		be.Reason, be.Option = call.ReasonUnsupported, "prompt"
	}
	return be
}
