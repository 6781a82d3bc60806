package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// waitFlags are the flags for waiting for a result and printing it.
type waitFlags struct {
	on, json bool
	limit    time.Duration
}

// defaultWait limits --wait without --wait-for.
const defaultWait = time.Hour

func (f *waitFlags) register(flags *pflag.FlagSet) {
	f.limit = defaultWait
	flags.Func("wait-for", "`duration`: limit of --wait (default 1h); implies --wait",
		param.Into(&f.limit, param.Duration))
	flags.BoolVar(&f.json, "json", false, "print the result, or the id, as JSON")
}

// newResult makes the command result.
func newResult(env *console.Env) *cobra.Command {
	f := &waitFlags{}
	queue := &connection.QueueFlags{NATS: connection.NewNATSFlags(env), MustExist: true}
	cmd := &cobra.Command{
		Use:   "result ID",
		Short: "Print the answer to a job",
		Long: `Print the answer to a job, or the reason why there is none. The result stays in
the queue. Without --wait, a job that has no result yet is a failure.`,
		Example: `  clichain queue result nightly-7 --nats nats://127.0.0.1:4222
  clichain queue result nightly-7 --wait-for 10m
  clichain queue result nightly-7 --json | jq .response.usage`,
		Args: console.ExactlyOneArg("queue result", "ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.on = f.on || cmd.Flags().Changed("wait-for")
			return showResult(cmd.Context(), env, queue, f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	queue.Register(flags)
	flags.BoolVar(&f.on, "wait", false, "wait for the result")
	f.register(flags)
	return cmd
}

func showResult(
	ctx context.Context, env *console.Env, flags *connection.QueueFlags, f *waitFlags, id string,
) (err error) {
	if err := f.check(flags); err != nil {
		return err
	}
	q, err := flags.Open(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	if f.on {
		return awaitResult(ctx, env, q, f, id)
	}
	r, err := q.Result(ctx, id)
	if err != nil {
		return noResult(id, err)
	}
	return printResult(env, r, f.json)
}

// awaitResult waits for the result of a job and prints it. The job continues if the wait ends first.
func awaitResult(ctx context.Context, env *console.Env, q *connection.Queue, f *waitFlags, id string) error {
	defer reportWaiting(ctx, env, q.Queue, id)()
	waiting, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	r, err := q.Wait(waiting, id)
	switch {
	case err == nil:
		return printResult(env, r, f.json)
	case ctx.Err() != nil:
		fmt.Fprintf(env.Err, "clichain: job %q stays in the queue\n", id)
		return console.Fail(console.ExitInterrupted, context.Cause(ctx))
	case waiting.Err() != nil:
		return console.Fail(console.ExitTimeout, notInTime(id, f.limit, err))
	}
	return noResult(id, err)
}

// notInTime returns the error of --wait-for. It includes the last failed query for the result.
func notInTime(id string, limit time.Duration, waited error) error {
	err := fmt.Errorf("job %q: no result within %v: it stays in the queue: \"clichain queue result\" prints it later",
		id, limit)
	if both, ok := waited.(interface{ Unwrap() []error }); ok {
		err = fmt.Errorf("%w (the last read failed: %v)", err, both.Unwrap()[1])
	}
	return err
}

// noResult returns the error for a missing result.
func noResult(id string, err error) error {
	switch {
	case errors.Is(err, jetstream.ErrPending):
		return console.Fail(console.ExitFailed, fmt.Errorf("job %q: %s: --wait waits for it",
			id, strings.TrimPrefix(err.Error(), "jetstream: ")))
	case errors.Is(err, jetstream.ErrNotFound):
		return console.Usagef("there is no job %q in the queue: check its id and --queue; old results are removed", id)
	}
	return connection.Failed(err)
}

// check rejects --wait for a queue in a directory, because no worker can open it meanwhile.
func (f *waitFlags) check(queue *connection.QueueFlags) error {
	if f.on && queue.Embedded() {
		return console.Usagef("--wait: only one process at a time can use the queue in a directory, so no worker "+
			"answers: omit --wait, run \"clichain worker --store %s\", and then \"clichain queue result\"", queue.Store)
	}
	return nil
}

// printResult prints an answer, or returns the failure with the exit code of ask.
func printResult(env *console.Env, r *jetstream.Result, asJSON bool) error {
	if asJSON {
		if err := env.PrintJSON(r); err != nil || r.Failure == nil {
			return err
		}
		return console.Fail(failureStatus(r.Failure), nil)
	}
	if r.Failure != nil {
		return console.Fail(failureStatus(r.Failure), failureError(r))
	}
	for _, warning := range r.Response.Warnings {
		fmt.Fprintf(env.Err, "clichain: %s: warning: %s\n", terminal.OneLine(r.Response.Backend), terminal.OneLine(warning))
	}
	text := r.Response.Text
	if terminal.Is(env.Out) {
		text = terminal.Visible(text)
	}
	_, err := fmt.Fprintln(env.Out, strings.TrimSuffix(text, "\n"))
	return console.OutputError(err)
}

func failureError(r *jetstream.Result) error {
	text := fmt.Sprintf("job %q failed: %s", r.ID, console.Message(errors.New(r.Failure.Message)))
	if r.Failure.SideEffects {
		text += " (the agent may have changed something)"
	}
	return errors.New(text)
}

// failureStatus returns the exit code that ask has for the same failure.
func failureStatus(f *jetstream.Failure) int {
	cause := &clichain.BackendError{Reason: f.Reason, Message: f.Message}
	failed := &clichain.ChainError{Attempts: f.Attempts, Cause: cause}
	if len(f.Attempts) == 0 {
		failed.Attempts = []clichain.Attempt{{Reason: f.Reason, Err: cause}}
	}
	return console.ChainStatus(failed, false)
}
