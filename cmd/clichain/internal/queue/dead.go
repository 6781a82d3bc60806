package queue

import (
	"context"
	"fmt"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
)

func newRetry(env *console.Env) *cobra.Command {
	var sideEffects bool
	cmd := &cobra.Command{
		Use:   "retry ID...",
		Short: "Return dead letters to the queue",
		Long: `Return dead letters to the queue as new jobs, and print their ids. A job whose
agent may have changed something stays a dead letter, unless --side-effects
confirms that it may run again. A canceled job is selected only by its ID or by
--reason canceled. Without --yes, a selection by flags only reports the number
of jobs.`,
		Example: `  clichain queue retry nightly-7 --nats nats://127.0.0.1:4222
  clichain queue retry --reason usage_limit --yes
  clichain queue retry --all --side-effects --yes`,
	}
	s := deadSelector("retry")
	s.has = func(i *jetstream.JobInfo) bool {
		return i.Reason != clichain.ReasonCanceled || s.Reason == clichain.ReasonCanceled
	}
	onJobs(env, cmd, s, func(ctx context.Context, q *connection.Queue, id string) error {
		return retry(ctx, q, id, sideEffects)
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if err := run(cmd, ids); err != nil {
			return err
		}
		return leftError(s)
	}
	cmd.Flags().BoolVar(&sideEffects, "side-effects", false, "also retry jobs whose agent may have changed something")
	return cmd
}

// retry returns a dead letter to the queue. It leaves one with side effects, unless sideEffects is true.
func retry(ctx context.Context, q *connection.Queue, id string, sideEffects bool) error {
	letter, err := q.Result(ctx, id)
	switch {
	case err != nil:
		return err
	case letter.Failure == nil:
		return jetstream.ErrFinished
	case letter.Failure.SideEffects && !sideEffects:
		return errLeft
	}
	return q.Retry(ctx, id)
}

// leftError returns an error if jobs were left because of their side effects.
func leftError(s *selector) error {
	if s.left == 0 {
		return nil
	}
	return console.Fail(console.ExitFailed, fmt.Errorf(
		"%s not retried, such as %q: the agent may have changed something: look at what it did, and give "+
			"--side-effects to run it again", console.Plural(s.left, "job was", "jobs were"), s.example))
}

func newDrop(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drop ID...",
		Short: "Remove dead letters permanently",
		Long: `Remove dead letters permanently, and print their ids. With an ID, a job that
still waits is removed too. Without --yes, a selection by flags only reports the
number of jobs.`,
		Example: `  clichain queue drop nightly-7 --nats nats://127.0.0.1:4222
  clichain queue drop --reason bad_option --yes
  clichain queue drop --batch nightly --yes`,
	}
	onJobs(env, cmd, deadSelector("drop"), func(ctx context.Context, q *connection.Queue, id string) error {
		return q.Drop(ctx, id)
	})
	return cmd
}

// deadSelector selects dead letters.
func deadSelector(verb string) *selector {
	s := &selector{verb: verb, has: func(*jetstream.JobInfo) bool { return true }}
	s.State = jetstream.StateDead
	return s
}
