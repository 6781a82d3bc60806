package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// listFlags are the flags of list.
type listFlags struct {
	jetstream.Selection
	limit int
	json  bool
}

func newList(env *console.Env) *cobra.Command {
	f := &listFlags{limit: 100}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the jobs that have no answer",
		Long: `List the jobs without an answer, oldest first: those that wait or run, and then
the dead letters. The flags select jobs by all of their values together. If more
jobs exist than --limit, a line on stderr reports it.`,
		Example: `  clichain queue list --nats nats://127.0.0.1:4222
  clichain queue list --state dead --reason timeout
  clichain queue list --owner team-a --json | jq -r .id`,
		Args: console.NoArgs,
	}
	onQueue(env, cmd, func(ctx context.Context, q *connection.Queue, _ []string) error {
		return listJobs(ctx, env, jetstream.NewOperator(q.Queue), f)
	})
	flags := cmd.Flags()
	flags.Func("state", "select the jobs in the state with this `name`: waiting, running, parked or dead",
		param.Into(&f.State, param.OneOf(jetstream.States...)))
	selectFlags(flags, &f.Selection)
	flags.Func("limit", "list at most this `number` of jobs (default 100)", param.Into(&f.limit, param.Count))
	flags.BoolVar(&f.json, "json", false, "print one JSON object per line")
	return cmd
}

// selectFlags declares the flags for the properties of jobs.
func selectFlags(flags *pflag.FlagSet, s *jetstream.Selection) {
	flags.Func("owner", "select the jobs of the owner with this `name`", param.Into(&s.Owner, connection.ParseOwner))
	flags.StringVar(&s.Batch, "batch", "",
		"select the jobs whose batch has this `name`: the part of the id before the first dot")
	flags.Func("reason", "select the jobs whose last run failed for this `reason`, such as timeout",
		func(text string) error {
			s.Reason = clichain.Reason(text)
			return nil
		})
}

func listJobs(ctx context.Context, env *console.Env, o *jetstream.Operator, f *listFlags) error {
	t := jobTable{env: env, now: time.Now()}
	listed, more := 0, false
	for i, err := range o.Jobs(ctx, f.Selection) {
		if err != nil {
			return err
		}
		if more = listed == f.limit; more {
			break
		}
		listed++
		add := t.add
		if f.json {
			add = func(i *jetstream.JobInfo) error { return console.WriteJSON(env.Out, i, false) }
		}
		if err := add(i); err != nil {
			return err
		}
	}
	if err := t.flush(); err != nil || !more {
		return err
	}
	fmt.Fprintf(env.Err, "clichain: more than %s: raise --limit, or select fewer jobs\n",
		console.Plural(listed, "job exists", "jobs exist"))
	return nil
}
