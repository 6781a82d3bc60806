// Package usage has the command that prints how much of each plan is used.
package usage

import (
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/cooldowns"
	"github.com/clichain/clichain/cmd/clichain/internal/history"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cooldown"
	"github.com/spf13/cobra"
)

// usageFlags are the flags of usage.
type usageFlags struct {
	cooldowns.Flags
	json, watch     bool
	history, verify bool
	past            history.Options
}

// NewUsage makes the command usage.
func NewUsage(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	f := &usageFlags{}
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Show how much of each plan is used, and until when",
		Long: `Show the usage windows of your plans, such as five hours and a week. A row has
the used share, the reset in local time, and the time at which the window is
used up at its current rate. Some CLIs report their windows with each answer,
and clichain keeps these reports beside your cooldowns.

All workers of a NATS server share their reports. Use --nats or --store to show
those; NATS_URL alone does not select them.`,
		Example: `  clichain usage
  clichain usage --history --by project --since 30d
  clichain usage --json | jq '.accounts[].windows[] | {name, used, resets_at}'`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runUsage(cmd.Context(), r, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.Register(r, flags, "usage windows")
	r.AddFlags(flags)
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.watch, "watch", false,
		"update the output until Ctrl-C; without a terminal, print a line for each change")
	flags.BoolVar(&f.history, "history", false, "print sums of the calls in \"clichain log\": tokens, costs and failures")
	flags.Func("by", "`name`: group of --history: day, backend, model or project (default day)",
		param.Into(&f.past.By, param.OneOf(history.Groups...)))
	f.past.RegisterSince(flags)
	flags.BoolVar(&f.verify, "verify", false, "check that no line of \"clichain log\" was changed or removed")
	cmd.MarkFlagsMutuallyExclusive("watch", "history", "verify")
	return cmd
}

// nothingKnown explains an empty report.
const nothingKnown = `No usage windows are known.
A CLI such as claude or codex reports them with its answers if you are logged in
with a plan. Ask it something, and run "clichain usage" again.
`

// noStore explains an empty report if cooldowns are off.
const noStore = `No usage windows are known, because no store keeps them.
Set "cooldowns" to a file; see "clichain help settings".
`

func runUsage(ctx context.Context, r *selection.Resolver, f *usageFlags) (err error) {
	switch {
	case f.history:
		f.past.JSON = f.json
		return history.Print(r, f.past)
	case f.verify:
		return history.Verify(ctx, r, f.json)
	case f.past.Set():
		return console.Usagef("--by and --since: they need --history")
	}
	if f.watch && f.Embedded() {
		return console.Usagef("--watch: cannot be used with --store, because one process at a time can use a directory")
	}
	there, done, err := f.Open(ctx, r)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return err
	}
	v := view{Env: r.Env, json: f.json, empty: nothingKnown}
	if there == nil {
		v.empty = noStore
	}
	look := func(ctx context.Context) (map[string]cooldown.Quota, error) {
		if q, ok := there.(cooldown.QuotaStore); ok {
			return q.Quotas(ctx)
		}
		return nil, nil
	}
	if f.watch {
		return v.watch(ctx, look)
	}
	quotas, err := look(ctx)
	if err != nil {
		return console.Fail(console.ExitFailed, err)
	}
	return v.print(quotas, time.Now())
}
