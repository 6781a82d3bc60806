package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
)

// chosen selects jobs by id, or by owner and batch.
type chosen struct {
	jetstream.Selection
	yes bool
}

// register declares the flags. verb completes the help of --yes.
func (c *chosen) register(cmd *cobra.Command, verb string) {
	flags := cmd.Flags()
	flags.StringVar(&c.Owner, "owner", "", "select the jobs of the owner with this `name`")
	flags.StringVar(&c.Batch, "batch", "", "select the jobs whose batch has this `name`: the part of the id before the first dot")
	flags.BoolVar(&c.yes, "yes", false, verb+" the jobs that --owner and --batch select")
	cmd.Args = func(_ *cobra.Command, ids []string) error {
		if (len(ids) > 0) == (c.Owner != "" || c.Batch != "") {
			return console.Usagef("which jobs? Give either their IDs, or --owner or --batch")
		}
		if err := c.Check(); err != nil {
			return console.Usagef("--owner: %s", console.Message(err))
		}
		return nil
	}
}

// ids returns the ids of the selected jobs. Without --yes, a selection by flags is only counted.
func (c *chosen) ids(ctx context.Context, o *jetstream.Operator, verb string, ids []string) ([]string, error) {
	if len(ids) > 0 {
		return ids, nil
	}
	for i, err := range o.Jobs(ctx, c.Selection) {
		if err != nil {
			return nil, err
		}
		if i.State != jetstream.StateDead {
			ids = append(ids, i.ID)
		}
	}
	if len(ids) > 0 && !c.yes {
		return nil, console.Usagef("%s selected: give --yes to %s them", console.Plural(len(ids), "job", "jobs"), verb)
	}
	return ids, nil
}

// onJobs makes cmd run change for each selected job, and print the ids of the changed jobs.
func onJobs(
	env *console.Env, cmd *cobra.Command, verb string, change func(*jetstream.Operator, context.Context, string) error,
) {
	f, c := &deadFlags{}, &chosen{}
	onQueue(env, cmd, f, func(ctx context.Context, q *connection.Queue, given []string) error {
		o := jetstream.NewOperator(q.Queue)
		ids, err := c.ids(ctx, o, verb, given)
		if err != nil {
			return err
		}
		for _, id := range ids {
			err := change(o, ctx, id)
			ended := errors.Is(err, jetstream.ErrFinished) || errors.Is(err, jetstream.ErrRunning) ||
				errors.Is(err, jetstream.ErrNotFound)
			if ended && len(given) == 0 {
				continue // it has ended or begun since it was selected
			}
			if err := printChanged(env, id, err); err != nil {
				return err
			}
		}
		return nil
	})
	c.register(cmd, verb)
}

// printChanged prints the id of a changed job, or returns why it was not changed.
func printChanged(env *console.Env, id string, err error) error {
	switch {
	case errors.Is(err, jetstream.ErrNotFound):
		return console.Usagef("there is no job %q in the queue: check its id and --queue", id)
	case errors.Is(err, jetstream.ErrFinished):
		return console.Usagef("job %q already has a result: see \"clichain queue result\"", id)
	case errors.Is(err, jetstream.ErrRunning):
		return console.Usagef("job %q runs: only a job that waits can be moved", id)
	case err != nil:
		return fmt.Errorf("job %q: %w", id, err)
	}
	_, err = fmt.Fprintln(env.Out, terminal.OneLine(id))
	return console.OutputError(err)
}

func newCancel(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel ID...",
		Short: "Cancel jobs that wait or run",
		Long: `Cancel jobs that wait or run, and print their ids. A canceled job has a result
with the reason canceled, and "clichain queue retry" submits it again. Workers
stop running jobs within seconds. Without --yes, a selection by --owner or
--batch only reports the number of jobs.`,
		Example: `  clichain queue cancel nightly-7 --nats nats://127.0.0.1:4222
  clichain queue cancel --batch nightly --yes
  clichain queue cancel --owner team-a --yes`,
	}
	onJobs(env, cmd, "cancel", (*jetstream.Operator).Cancel)
	return cmd
}

func newMove(env *console.Env) *cobra.Command {
	var to jetstream.Priority
	cmd := &cobra.Command{
		Use:   "move ID...",
		Short: "Change the priority of waiting jobs",
		Long: `Give waiting jobs another priority, and print their ids. A job keeps its id, its
owner and its history. Without --yes, a selection by --owner or --batch only
reports the number of jobs.`,
		Example: `  clichain queue move nightly-7 --priority high
  clichain queue move --batch nightly --priority low --yes
  clichain queue move --owner team-a --priority low --yes`,
	}
	onJobs(env, cmd, "move", func(o *jetstream.Operator, ctx context.Context, id string) error {
		return o.Move(ctx, id, to)
	})
	cmd.Flags().Func("priority", "`level`: new priority: high, normal or low",
		param.Into(&to, param.OneOf(Priorities...)))
	if err := cmd.MarkFlagRequired("priority"); err != nil {
		panic(err)
	}
	return cmd
}

func newPause(env *console.Env) *cobra.Command {
	f, p, limit := &deadFlags{}, jetstream.Pause{}, time.Duration(0)
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
	onQueue(env, cmd, f, func(ctx context.Context, q *connection.Queue, _ []string) error {
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
	f, owner := &deadFlags{}, ""
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
	onQueue(env, cmd, f, func(ctx context.Context, q *connection.Queue, _ []string) error {
		return jetstream.NewOperator(q.Queue).Resume(ctx, owner)
	})
	cmd.Flags().Func("owner", "end the pause of the owner with this `name` (default that of all jobs)",
		param.Into(&owner, connection.ParseOwner))
	return cmd
}

func newDrain(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Pause a queue and wait for the running jobs",
		Long: `Pause a queue, and wait up to ten minutes until no worker runs a job. The queue
stays paused until "clichain queue resume".`,
		Example: `  clichain queue drain --nats nats://127.0.0.1:4222
  clichain queue drain --queue nightly
  clichain queue drain && clichain queue status --once`,
		Args: console.NoArgs,
	}
	onQueue(env, cmd, &deadFlags{}, func(ctx context.Context, q *connection.Queue, _ []string) error {
		return jetstream.NewOperator(q.Queue).Drain(ctx, func(running int) {
			fmt.Fprintf(env.Err, "clichain: %s\n", console.Plural(running, "job runs", "jobs run"))
		})
	})
	return cmd
}
