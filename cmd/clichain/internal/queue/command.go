// Package queue has the commands worker and queue.
package queue

import (
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/inspect"
	"github.com/spf13/cobra"
)

// New makes the command queue.
func New(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Submit jobs, and operate a queue",
		Long: `Submit jobs to a queue, read their results, and operate the queue. Workers
answer the jobs: see "clichain worker".`,
		Example: `  clichain queue submit --nats nats://127.0.0.1:4222 "Explain errno 11"
  clichain queue status --nats nats://127.0.0.1:4222
  clichain queue retry --reason usage_limit --yes`,
		Args: console.CommandsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newSubmit(env), newResult(env), newStatus(env), newList(env), newRetry(env), newDrop(env),
		newCancel(env), newMove(env), newPause(env), newResume(env), newDrain(env), newPurge(env),
		newLimits(env), inspect.NewFleetCooldowns(env))
	return cmd
}

// operateLimit limits each command that operates a queue, because a queue may have very many jobs.
const operateLimit = 10 * time.Minute

// onQueue declares the flags of a queue, and makes cmd run do with the queue that they name.
func onQueue(env *console.Env, cmd *cobra.Command, do func(context.Context, *connection.Queue, []string) error) {
	f := &connection.QueueFlags{NATS: connection.NewNATSFlags(env), MustExist: true}
	cmd.Flags().SortFlags = false
	f.Register(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		ctx, cancel := context.WithTimeout(cmd.Context(), operateLimit)
		defer cancel()
		q, err := f.Open(ctx, false)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, q.Close()) }()
		return connection.Failed(do(ctx, q, args))
	}
}
