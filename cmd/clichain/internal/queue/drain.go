package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
)

func newDrain(env *console.Env) *cobra.Command {
	limit := operateLimit
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Pause a queue and wait for the running jobs",
		Long: `Pause a queue, and wait until no worker runs a job. The queue stays paused until
"clichain queue resume". If jobs still run after --wait-for, the command names
them and exits with 124.`,
		Example: `  clichain queue drain --nats nats://127.0.0.1:4222
  clichain queue drain --queue nightly --wait-for 2m
  clichain queue drain && clichain queue status --once`,
		Args: console.NoArgs,
	}
	onQueue(env, cmd, func(ctx context.Context, q *connection.Queue, _ []string) error {
		waiting, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		o := jetstream.NewOperator(q.Queue)
		err := o.Drain(waiting, func(running int) {
			fmt.Fprintf(env.Err, "clichain: %s\n", console.Plural(running, "job runs", "jobs run"))
		})
		if errors.Is(err, context.DeadlineExceeded) {
			return console.Fail(console.ExitTimeout, stillRunning(ctx, o, limit))
		}
		return err
	})
	cmd.Flags().Func("wait-for", "`duration`: limit of the wait, at most 10m (default 10m)",
		param.Into(&limit, drainLimit))
	return cmd
}

func drainLimit(text string) (time.Duration, error) {
	limit, err := param.Duration(text)
	if err == nil && (limit <= 0 || limit > operateLimit) {
		err = fmt.Errorf("use more than 0s and at most %v", operateLimit)
	}
	return limit, err
}

// namedJobs is the number of running jobs that an error names.
const namedJobs = 10

// stillRunning returns the error of a drain that has timed out. It reads the running jobs, in at most ten seconds.
func stillRunning(ctx context.Context, o *jetstream.Operator, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var ids []string
	for job, err := range o.Jobs(ctx, jetstream.Selection{State: jetstream.StateRunning}) {
		if err != nil {
			break // the ids so far are better than none
		}
		if len(ids) == namedJobs {
			ids = append(ids, "…")
			break
		}
		ids = append(ids, job.ID)
	}
	return fmt.Errorf("jobs still run after %v: %s; the queue is paused: wait again, or end the pause with resume",
		limit, strings.Join(ids, ", "))
}
