package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
)

// selector selects the jobs of a command by id, or by their properties.
type selector struct {
	jetstream.Selection
	all, yes bool
	verb     string // what the command does with the jobs
	// has reports whether the command changes a job that the properties select.
	has func(*jetstream.JobInfo) bool

	left    int    // how many jobs a change left as they are
	example string // the id of one of them
}

// errLeft is the error of a change that leaves the job as it is, without a failure of the command.
var errLeft = errors.New("the job stays as it is")

// jobChange changes one job of a queue.
type jobChange func(context.Context, *connection.Queue, string) error

// onJobs makes cmd run do for each job that s selects, and print the ids of the changed jobs.
func onJobs(env *console.Env, cmd *cobra.Command, s *selector, do jobChange) {
	onQueue(env, cmd, func(ctx context.Context, q *connection.Queue, ids []string) error {
		o := jetstream.NewOperator(q.Queue)
		if len(ids) == 0 && !s.yes {
			return s.count(ctx, o)
		}
		return inOrder(s.ids(ctx, o, ids),
			func(id string) error { return do(ctx, q, id) },
			func(id string, err error) error { return s.report(env, len(ids) > 0, id, err) })
	})
	flags := cmd.Flags()
	selectFlags(flags, &s.Selection)
	flags.BoolVar(&s.all, "all", false, "select all jobs")
	flags.BoolVar(&s.yes, "yes", false, s.verb+" the jobs that the other flags select")
	cmd.Args = func(_ *cobra.Command, ids []string) error {
		ways := 0
		for _, given := range []bool{len(ids) > 0, s.all, s.Selection != jetstream.Selection{State: s.State}} {
			if given {
				ways++
			}
		}
		if ways != 1 {
			return console.Usagef("which jobs? Give their IDs, or --owner, --batch and --reason, or --all")
		}
		return nil
	}
}

// ids yields the given ids, or those of the jobs that the properties select. A job that a change moves is not selected
// again.
func (s *selector) ids(ctx context.Context, o *jetstream.Operator, given []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, id := range given {
			if !yield(id, nil) {
				return
			}
		}
		if len(given) > 0 {
			return
		}
		for i, err := range o.Jobs(ctx, s.Selection) {
			switch {
			case err != nil:
				yield("", err)
				return
			case s.State == "" && i.State == jetstream.StateDead:
				return // the jobs that wait or run come first
			case s.has(i) && !yield(i.ID, nil):
				return
			}
		}
	}
}

// count returns an error with the number of the selected jobs; nil for none.
func (s *selector) count(ctx context.Context, o *jetstream.Operator) error {
	n := 0
	for _, err := range s.ids(ctx, o, nil) {
		if err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return nil
	}
	return console.Usagef("%s selected: give --yes to %s them", console.Plural(n, "job", "jobs"), s.verb)
}

// report prints the id of a changed job. Without given ids, a job may have ended or begun since it was selected.
func (s *selector) report(env *console.Env, given bool, id string, err error) error {
	meanwhile := errors.Is(err, jetstream.ErrFinished) || errors.Is(err, jetstream.ErrRunning) ||
		errors.Is(err, jetstream.ErrNotFound) || errors.Is(err, jetstream.ErrPending)
	switch {
	case errors.Is(err, errLeft):
		s.left++
		s.example = id
		return nil
	case meanwhile && !given:
		return nil
	}
	return printChanged(env, id, err)
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
	case errors.Is(err, jetstream.ErrPending):
		return console.Usagef("job %q waits or runs: it is no dead letter", id)
	case err != nil:
		return fmt.Errorf("job %q: %w", id, err)
	}
	_, err = fmt.Fprintln(env.Out, terminal.OneLine(id))
	return console.OutputError(err)
}
