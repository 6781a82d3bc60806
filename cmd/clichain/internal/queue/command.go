// Package queue has the commands worker and queue.
package queue

import (
	"github.com/clichain/clichain/cmd/clichain/internal/console"
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
  clichain queue retry --reason usage_limit`,
		Args: console.CommandsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newSubmit(env), newResult(env), newStatus(env), newList(env), newRetry(env), newDrop(env),
		newCancel(env), newMove(env), newPause(env), newResume(env), newDrain(env), newPurge(env),
		newLimits(env))
	return cmd
}
