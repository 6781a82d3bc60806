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
	param.Values // of the backends to refresh
	cooldowns.Flags
	json, watch, refresh bool
	history, verify      bool
	past                 history.Options
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
	f.Flags.Register(r, flags, "usage windows")
	r.AddFlags(flags)
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.watch, "watch", false,
		"update the output until Ctrl-C; without a terminal, print a line for each change")
	flags.BoolVar(&f.refresh, "refresh", false,
		"first ask the CLIs that report their windows without a request to a model")
	param.Pick(flags, &f.Values, "only", "pass-env", "spec", "binary")
	flags.Lookup("only").Usage = "refresh these backends, `names` separated by commas"
	flags.BoolVar(&f.history, "history", false, "print sums of the calls in \"clichain log\": tokens, costs and failures")
	flags.Func("by", "`name`: group of --history: day, backend, model or project (default day)",
		param.Into(&f.past.By, param.OneOf(history.Groups...)))
	f.past.RegisterSince(flags)
	flags.BoolVar(&f.verify, "verify", false, "check that no line of \"clichain log\" was changed or removed")
	cmd.MarkFlagsMutuallyExclusive("watch", "history", "verify")
	cmd.MarkFlagsMutuallyExclusive("refresh", "history", "verify")
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

// check rejects flags that would have no effect.
func (f *usageFlags) check() error {
	named := len(f.Only)+len(f.SpecFiles)+len(f.Binaries)+len(f.Config.PassEnv) > 0
	past := f.history || f.verify
	switch {
	case past && (f.Given() || named):
		return console.Usagef("--history and --verify: read the log of this user: they cannot be used with " +
			"--nats, --store, --only, --pass-env, --spec or --binary")
	case f.past.Set() && !f.history:
		return console.Usagef("--by and --since: they need --history")
	case f.watch && f.Embedded():
		return console.Usagef("--watch: cannot be used with --store, because one process at a time can use a directory")
	case f.refresh && f.Given():
		return console.Usagef("--refresh: asks the CLIs of this user: it cannot be used with --nats or --store")
	case named && !f.refresh:
		return console.Usagef("--only, --pass-env, --spec and --binary: need --refresh")
	}
	return nil
}

func runUsage(ctx context.Context, r *selection.Resolver, f *usageFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	switch {
	case f.history:
		f.past.JSON = f.json
		return history.Print(r, f.past)
	case f.verify:
		return history.Verify(ctx, r, f.json)
	}
	if f.refresh {
		if err := refresh(ctx, r, f); err != nil {
			return err
		}
	}
	there, done, err := f.Flags.Open(ctx, r)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return err
	}
	v := view{Env: r.Env, json: f.json, empty: nothingKnown}
	if there == nil {
		v.empty = noStore
	}
	look := func(ctx context.Context) (map[string]cooldown.Quota, error) {
		if there == nil {
			return nil, nil
		}
		return there.Quotas(ctx)
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
