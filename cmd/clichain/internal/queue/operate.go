package queue

import (
	"context"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
)

func newCancel(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel ID...",
		Short: "Cancel jobs that wait or run",
		Long: `Cancel jobs that wait or run, and print their ids. A canceled job has a result
with the reason canceled, and "clichain queue retry" submits it again. Workers
stop running jobs within seconds. Without --yes, a selection by flags only
reports the number of jobs.`,
		Example: `  clichain queue cancel nightly-7 --nats nats://127.0.0.1:4222
  clichain queue cancel --batch nightly --yes
  clichain queue cancel --owner team-a --yes`,
	}
	s := &selector{verb: "cancel", has: func(*jetstream.JobInfo) bool { return true }}
	onJobs(env, cmd, s, func(ctx context.Context, q *connection.Queue, id string) error {
		return jetstream.NewOperator(q.Queue).Cancel(ctx, id)
	})
	return cmd
}

func newMove(env *console.Env) *cobra.Command {
	var to jetstream.Priority
	cmd := &cobra.Command{
		Use:   "move ID...",
		Short: "Change the priority of waiting jobs",
		Long: `Give waiting jobs another priority, and print their ids. A job keeps its id, its
owner and its history. Without --yes, a selection by flags only reports the
number of jobs.`,
		Example: `  clichain queue move nightly-7 --priority high
  clichain queue move --batch nightly --priority low --yes
  clichain queue move --owner team-a --priority low --yes`,
	}
	s := &selector{verb: "move", has: func(i *jetstream.JobInfo) bool { return i.Priority != to }}
	onJobs(env, cmd, s, func(ctx context.Context, q *connection.Queue, id string) error {
		return jetstream.NewOperator(q.Queue).Move(ctx, id, to)
	})
	cmd.Flags().Func("priority", "`level`: new priority: high, normal or low",
		param.Into(&to, param.OneOf(Priorities...)))
	if err := cmd.MarkFlagRequired("priority"); err != nil {
		panic(err)
	}
	return cmd
}

func newPause(env *console.Env) *cobra.Command {
	p, limit := jetstream.Pause{}, time.Duration(0)
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Pause a queue or the jobs of an owner",
		Long: `Keep the workers of a queue from taking jobs, or the jobs of one owner. Running
jobs continue, and jobs can be submitted. The pause also applies to workers that
start later, until "clichain queue resume" or the end of --for.`,
		Example: `  clichain queue pause --nats nats://127.0.0.1:4222
  clichain queue pause --for 30m
  clichain queue pause --owner team-a`,
		Args: console.NoArgs,
	}
	onQueue(env, cmd, func(ctx context.Context, q *connection.Queue, _ []string) error {
		if limit > 0 {
			p.Until = time.Now().Add(limit).UTC()
		}
		return jetstream.NewOperator(q.Queue).Pause(ctx, p)
	})
	cmd.Flags().Func("owner", "pause only the jobs of the owner with this `name` (default all jobs)",
		param.Into(&p.Owner, connection.ParseOwner))
	cmd.Flags().Func("for", "`duration` of the pause, such as 30m (default until resume)",
		param.Into(&limit, param.Duration))
	return cmd
}

func newResume(env *console.Env) *cobra.Command {
	owner := ""
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Resume a paused queue or owner",
		Long: `End the pause of a queue, or of the jobs of one owner. Both are independent of
each other.`,
		Example: `  clichain queue resume --nats nats://127.0.0.1:4222
  clichain queue resume --queue nightly
  clichain queue resume --owner team-a`,
		Args: console.NoArgs,
	}
	onQueue(env, cmd, func(ctx context.Context, q *connection.Queue, _ []string) error {
		return jetstream.NewOperator(q.Queue).Resume(ctx, owner)
	})
	cmd.Flags().Func("owner", "end the pause of the owner with this `name` (default that of all jobs)",
		param.Into(&owner, connection.ParseOwner))
	return cmd
}
