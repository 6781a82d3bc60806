package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/cooldowns"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/cooldown"
	"github.com/spf13/cobra"
)

// cooldownsFlags select the cooldowns: of a fleet, or by default of this user.
type cooldownsFlags struct {
	cooldowns.Flags
	json bool
}

func newCooldownsFlags(r *selection.Resolver, cmd *cobra.Command, fleet bool) *cooldownsFlags {
	f := &cooldownsFlags{}
	cmd.Flags().SortFlags = false
	if fleet {
		f.RegisterFleet(r, cmd.Flags(), "cooldowns")
	} else {
		f.Register(r, cmd.Flags(), "cooldowns")
	}
	return f
}

// NewCooldowns makes the command cooldowns.
func NewCooldowns(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	return cooldownsGroup(r, &cobra.Command{
		Use:   "cooldowns",
		Short: "List or clear the cooldowns of backends",
		Long: `After a failure such as a usage limit, all your calls skip the backend until its
cooldown ends. Your cooldowns are in the file that CLICHAIN_COOLDOWNS or the
settings name.

All workers of a NATS server share their cooldowns. Use --nats or --store to
list or clear those; NATS_URL alone does not select them.`,
		Example: `  clichain cooldowns list
  clichain cooldowns clear codex
  clichain cooldowns list --nats nats://127.0.0.1:4222`,
	}, cooldownsListCommand(r, false), cooldownsClearCommand(r, false))
}

// cooldownsGroup adds the commands for cooldowns to cmd.
func cooldownsGroup(r *selection.Resolver, cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.SuggestionsMinimumDistance = console.CommandsOnly, 2
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, sub := range subs {
		r.AddFlags(sub.Flags())
		cmd.AddCommand(sub)
	}
	return cmd
}

func cooldownsListCommand(r *selection.Resolver, fleet bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the backends in cooldown",
		Long: `List the backends in cooldown, with the reason and the end of each cooldown.
Without --nats and --store, the list has your own cooldowns.`,
		Example: `  clichain cooldowns list
  clichain cooldowns list --json
  clichain cooldowns list --nats nats://127.0.0.1:4222`,
		Args: console.NoArgs,
	}
	f := newCooldownsFlags(r, cmd, fleet)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return listCooldowns(cmd.Context(), r, f) }
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func cooldownsClearCommand(r *selection.Resolver, fleet bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clear [NAME...]",
		Short: "Clear the cooldowns of backends",
		Long: `Clear the cooldowns of the named backends, or of all backends without NAME. The
next call tries these backends again. If a limit still applies, that call starts
a new cooldown.`,
		Example: `  clichain cooldowns clear
  clichain cooldowns clear codex claude
  clichain cooldowns clear codex --nats nats://127.0.0.1:4222`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return selection.BuiltinNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := newCooldownsFlags(r, cmd, fleet)
	cmd.RunE = func(cmd *cobra.Command, names []string) error { return clearCooldowns(cmd.Context(), r, f, names) }
	return cmd
}

// cooldownEntry is the cooldown of one backend with one login.
type cooldownEntry struct {
	Backend  string          `json:"backend"`
	Model    string          `json:"model,omitempty"` // empty: calls that name none
	Reason   clichain.Reason `json:"reason"`
	Failures int             `json:"failures"` // in a row
	Until    time.Time       `json:"until"`

	key string
}

// kept returns the recorded failures, ordered by the end of their cooldown.
func kept(ctx context.Context, there cooldowns.Store) (list []cooldownEntry, err error) {
	if there == nil {
		return nil, nil
	}
	states, err := there.States(ctx)
	if err != nil {
		return nil, console.Fail(console.ExitFailed, err)
	}
	for key, state := range states {
		name, model := partsOf(key)
		list = append(list, cooldownEntry{name, model, state.Reason, state.Failures, state.Until, key})
	}
	slices.SortFunc(list, func(a, b cooldownEntry) int {
		return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.key, b.key))
	})
	return list, nil
}

// partsOf returns the backend and the model of a key such as "codex@fingerprint/model". The last two parts are
// optional.
func partsOf(key string) (backend, model string) {
	key, model, _ = strings.Cut(key, "/")
	backend, _, _ = strings.Cut(key, "@")
	return backend, model
}

func listCooldowns(ctx context.Context, r *selection.Resolver, f *cooldownsFlags) (err error) {
	there, done, err := f.Open(ctx, r)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return err
	}
	list, err := kept(ctx, there)
	if err != nil {
		return err
	}
	now := time.Now()
	list = slices.DeleteFunc(list, func(r cooldownEntry) bool { return !r.Until.After(now) })
	if f.json {
		return r.PrintJSON(map[string]any{"cooldowns": append([]cooldownEntry{}, list...)})
	}
	if len(list) == 0 {
		_, err = fmt.Fprintln(r.Out, "no backend is in cooldown")
		return console.OutputError(err)
	}
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.name()
	}
	p := console.NewPage(console.Style{}, console.Columns(r.Out))
	column := console.Widest(names, p.Width)
	for _, r := range list {
		p.Cut(console.Cell(r.name(), column)+"  ", fmt.Sprintf("until %s, in %s  after %s",
			r.Until.Local().Format("2006-01-02 15:04"), console.Roughly(r.Until.Sub(now)), r.Reason), console.Plain)
	}
	return r.Print(p.String())
}

// name returns the backend, or backend/model.
func (r cooldownEntry) name() string {
	if r.Model == "" {
		return r.Backend
	}
	return r.Backend + "/" + r.Model
}

func clearCooldowns(ctx context.Context, r *selection.Resolver, f *cooldownsFlags, names []string) (err error) {
	there, done, err := f.Open(ctx, r)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return err
	}
	list, err := kept(ctx, there)
	if err != nil {
		return err
	}
	c, err := r.Catalog(nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		known := slices.ContainsFunc(list, func(r cooldownEntry) bool { return r.Backend == name })
		if !known && selection.IndexOf(c.All, name) < 0 {
			return c.Unknown("cooldowns clear", name)
		}
	}
	var cleared []string
	for _, r := range list {
		if len(names) > 0 && !slices.Contains(names, r.Backend) {
			continue
		}
		forget := func(cooldown.State) cooldown.State { return cooldown.State{} }
		if err := there.Update(ctx, r.key, forget); err != nil {
			return console.Fail(console.ExitFailed, fmt.Errorf("%s: %w", terminal.OneLine(r.name()), err))
		}
		cleared = append(cleared, terminal.OneLine(r.name()))
	}
	text := "nothing to clear"
	if len(cleared) > 0 {
		slices.Sort(cleared)
		text = "cleared: " + strings.Join(slices.Compact(cleared), ", ")
	}
	_, err = fmt.Fprintln(r.Out, text)
	return console.OutputError(err)
}
