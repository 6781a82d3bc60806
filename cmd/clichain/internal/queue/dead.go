package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
)

// deadFlags are the flags of the commands for dead letters. Each command has some of them.
type deadFlags struct {
	queue            connection.QueueFlags
	json             bool
	all, sideEffects bool
	reason           string
}

// deadLimit limits each of these commands, because a queue may have very many dead letters.
const deadLimit = 10 * time.Minute

// onQueue declares the flags of a queue, and makes cmd run do with the queue that they name.
func onQueue(
	env *console.Env, cmd *cobra.Command, f *deadFlags, do func(context.Context, *connection.Queue, []string) error,
) {
	cmd.Flags().SortFlags = false
	f.queue.NATS, f.queue.MustExist = connection.NewNATSFlags(env), true
	f.queue.Register(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, ids []string) (err error) {
		ctx, cancel := context.WithTimeout(cmd.Context(), deadLimit)
		defer cancel()
		q, err := f.queue.Open(ctx, false)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, q.Close()) }()
		return connection.Failed(do(ctx, q, ids))
	}
}

func newList(env *console.Env) *cobra.Command {
	f := &deadFlags{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the dead letters",
		Long: `List the dead letters, oldest first. Each has the reason and the time of the
failure.`,
		Example: `  clichain queue list --nats nats://127.0.0.1:4222
  clichain queue list --reason timeout
  clichain queue list --json | jq -r .id`,
		Args: console.NoArgs,
	}
	onQueue(env, cmd, f, func(ctx context.Context, q *connection.Queue, _ []string) error {
		return deadList(ctx, env, q, f)
	})
	cmd.Flags().StringVar(&f.reason, "reason", "", "select the dead letters with this failure `reason`, such as timeout")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object per line")
	return cmd
}

func deadList(ctx context.Context, env *console.Env, q *connection.Queue, f *deadFlags) error {
	for r, err := range q.Dead(ctx) {
		if err != nil {
			return err
		}
		if f.reason != "" && f.reason != string(r.Failure.Reason) {
			continue
		}
		l := newDeadLetter(r)
		if f.json {
			err = console.WriteJSON(env.Out, l, false)
		} else {
			err = env.Print(l.text(env.StyleOf(env.Out), console.Columns(env.Out), time.Now()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// findDeadLetter finds a dead letter, or returns a usage error.
func findDeadLetter(ctx context.Context, q *connection.Queue, id string) (*jetstream.Result, error) {
	r, err := q.Result(ctx, id)
	if errors.Is(err, jetstream.ErrPending) {
		return nil, console.Usagef("job %q waits or runs: it is no dead letter", id)
	}
	if errors.Is(err, jetstream.ErrNotFound) || err == nil && r.Failure == nil {
		return nil, console.Usagef("there is no dead letter %q: see \"clichain queue list\"", id)
	}
	return r, err
}

func newRetry(env *console.Env) *cobra.Command {
	f := &deadFlags{}
	cmd := &cobra.Command{
		Use:   "retry ID...",
		Short: "Return dead letters to the queue",
		Long: `Return dead letters to the queue as new jobs. A job whose agent may have changed
something stays a dead letter, unless --side-effects confirms that it may run
again. Select the jobs by ID, --reason or --all.`,
		Example: `  clichain queue retry nightly-7 --nats nats://127.0.0.1:4222
  clichain queue retry --reason usage_limit
  clichain queue retry --all --side-effects`,
	}
	onQueue(env, cmd, f, func(ctx context.Context, q *connection.Queue, ids []string) error {
		return deadRetry(ctx, env, q, f, ids)
	})
	f.selects(cmd)
	cmd.Flags().BoolVar(&f.sideEffects, "side-effects", false, "also retry jobs whose agent may have changed something")
	return cmd
}

func deadRetry(ctx context.Context, env *console.Env, q *connection.Queue, f *deadFlags, ids []string) error {
	letters, err := f.choose(ctx, q, ids)
	if err != nil {
		return err
	}
	var left []string
	for _, l := range letters {
		if l.SideEffects && !f.sideEffects {
			left = append(left, l.ID)
			continue
		}
		if err := changeJob(ctx, env, l.ID, q.Retry); err != nil {
			return err
		}
	}
	if len(left) > 0 {
		return console.Fail(console.ExitFailed, fmt.Errorf(
			"%d of %d were not retried, such as %q: the agent may have changed "+
				"something: look at what it did, and give --side-effects to run it again", len(left), len(letters), left[0]))
	}
	return nil
}

func newDrop(env *console.Env) *cobra.Command {
	f := &deadFlags{}
	cmd := &cobra.Command{
		Use:   "drop ID...",
		Short: "Remove dead letters permanently",
		Long: `Remove dead letters permanently. With an ID, a job that still waits is removed
too. Select the jobs by ID, --reason or --all.`,
		Example: `  clichain queue drop nightly-7 --nats nats://127.0.0.1:4222
  clichain queue drop --reason bad_option
  clichain queue drop --all`,
	}
	onQueue(env, cmd, f, func(ctx context.Context, q *connection.Queue, ids []string) error {
		letters, err := f.choose(ctx, q, nil)
		for _, l := range letters {
			ids = append(ids, l.ID)
		}
		for _, id := range ids {
			if err == nil {
				err = changeJob(ctx, env, id, q.Drop)
			}
		}
		return err
	})
	f.selects(cmd)
	return cmd
}

// selects declares the flags that select dead letters.
func (f *deadFlags) selects(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.all, "all", false, "select all dead letters")
	cmd.Flags().StringVar(&f.reason, "reason", "", "select the dead letters with this failure `reason`, such as timeout")
	cmd.Args = func(_ *cobra.Command, ids []string) error {
		ways := 0
		for _, given := range []bool{len(ids) > 0, f.all, f.reason != ""} {
			if given {
				ways++
			}
		}
		if ways != 1 {
			return console.Usagef("which dead letters? Give their IDs, or --reason REASON, or --all: one of the three")
		}
		return nil
	}
}

// choose finds the dead letters with the ids, or those that the flags select.
func (f *deadFlags) choose(ctx context.Context, q *connection.Queue, ids []string) (letters []DeadLetter, err error) {
	for _, id := range ids {
		r, err := findDeadLetter(ctx, q, id)
		if err != nil {
			return nil, err
		}
		letters = append(letters, newDeadLetter(r))
	}
	if !f.all && f.reason == "" {
		return letters, nil
	}
	for r, err := range q.Dead(ctx) {
		if err != nil {
			return nil, err
		}
		if f.all || f.reason == string(r.Failure.Reason) {
			letters = append(letters, newDeadLetter(r))
		}
	}
	return letters, nil
}

// changeJob changes one job and prints its id.
func changeJob(ctx context.Context, env *console.Env, id string, do func(context.Context, string) error) error {
	err := do(ctx, id)
	if errors.Is(err, jetstream.ErrNotFound) {
		return console.Usagef("there is no job %q: see \"clichain queue list\"", id)
	}
	if err != nil {
		return fmt.Errorf("job %q: %w", id, err)
	}
	_, err = fmt.Fprintln(env.Out, terminal.OneLine(id))
	return console.OutputError(err)
}
