package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
)

// purgeFlags are the flags of purge.
type purgeFlags struct {
	filter    jetstream.PurgeFilter
	all, json bool
	olderThan time.Duration
}

func newPurge(env *console.Env) *cobra.Command {
	f := &purgeFlags{}
	cmd := &cobra.Command{
		Use:   "purge",
		Short: "Remove results",
		Long: `Remove the results of jobs, answers and dead letters alike, and print their
number. The flags select results by all of their values together. No job that
waits or runs is removed. The ids can then be used again.`,
		Example: `  clichain queue purge --older-than 168h --nats nats://127.0.0.1:4222
  clichain queue purge --owner team-a --id-prefix nightly-
  clichain queue purge --all`,
	}
	onQueue(env, cmd, func(ctx context.Context, q *connection.Queue, _ []string) error {
		if f.olderThan > 0 {
			f.filter.Before = time.Now().Add(-f.olderThan)
		}
		n, err := jetstream.Purge(ctx, q.Queue, f.filter)
		if err != nil {
			return fmt.Errorf("%d results were removed: %w", n, err)
		}
		if f.json {
			return env.PrintJSON(map[string]int{"removed": n})
		}
		_, err = fmt.Fprintln(env.Out, n)
		return console.OutputError(err)
	})
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "select all results")
	flags.StringSliceVar(&f.filter.Owners, "owner", nil, "select the results of the jobs of an owner, by `name`")
	flags.StringVar(&f.filter.IDPrefix, "id-prefix", "", "select the jobs whose ids begin with this `text`")
	flags.DurationVar(&f.olderThan, "older-than", 0, "select the results stored before this `time`, such as 168h")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := console.NoArgs(cmd, args); err != nil {
			return err
		}
		if f.olderThan < 0 {
			return console.Usagef("--older-than: %v: write a time above zero", f.olderThan)
		}
		selects := len(f.filter.Owners) > 0 || f.filter.IDPrefix != "" || f.olderThan > 0
		if selects == f.all {
			return console.Usagef("which results? Use --owner, --id-prefix or --older-than, or --all alone")
		}
		return nil
	}
	return cmd
}
