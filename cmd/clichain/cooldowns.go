package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/spf13/cobra"
)

func (a *app) cooldownsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cooldowns list | cooldowns clear [NAME...]",
		Short: "List which backends cool down after a failure, or end that",
		Long: `A backend that has failed, such as at its limit, is left alone for a while by all
calls of this user. The file is that of CLICHAIN_COOLDOWNS, or of the settings.`,
		Args: commandsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	for _, sub := range []*cobra.Command{a.cooldownsListCommand(), a.cooldownsClearCommand()} {
		a.addSettingsFlags(sub.Flags())
		cmd.AddCommand(sub)
	}
	return cmd
}

func (a *app) cooldownsListCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List which backends cool down, why, and until when",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.listCooldowns(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) cooldownsClearCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clear [NAME...]",
		Short: "Let the next call ask again the named backends, or all",
		Long: `Forget the failures of the named backends, or of all: the next call asks them
again. A limit that is not over is found again by that call.`,
		ValidArgsFunction: cobra.FixedCompletions(builtinNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.clearCooldowns(cmd.Context(), names)
		},
	}
}

// resting is one backend that cools down, with one login.
type resting struct {
	Backend  string          `json:"backend"`
	Model    string          `json:"model,omitempty"` // empty: calls that name none
	Reason   clichain.Reason `json:"reason"`
	Failures int             `json:"failures"` // in a row
	Until    time.Time       `json:"until"`

	key string
}

// kept are the failures that a file remembers, of those that cool down the first to end first.
func kept(ctx context.Context, file *cooldown.File) (list []resting, err error) {
	if file == nil {
		return nil, nil
	}
	states, err := file.States(ctx)
	if err != nil {
		return nil, &statusError{exitFailed, err}
	}
	for key, state := range states {
		name, model := partsOf(key)
		list = append(list, resting{name, model, state.Reason, state.Failures, state.Until, key})
	}
	slices.SortFunc(list, func(a, b resting) int {
		return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.key, b.key))
	})
	return list, nil
}

// partsOf are the backend and the model of a key: "codex@fingerprint/model", each but the first where it is known.
func partsOf(key string) (backend, model string) {
	key, model, _ = strings.Cut(key, "/")
	backend, _, _ = strings.Cut(key, "@")
	return backend, model
}

func (a *app) listCooldowns(ctx context.Context, asJSON bool) error {
	file, err := a.cooldownFile()
	if err != nil {
		return err
	}
	list, err := kept(ctx, file)
	if err != nil {
		return err
	}
	now := time.Now()
	list = slices.DeleteFunc(list, func(r resting) bool { return !r.Until.After(now) })
	if asJSON {
		return writeJSON(a.out, map[string]any{"cooldowns": append([]resting{}, list...)}, isTerminal(a.out))
	}
	if len(list) == 0 {
		_, err = fmt.Fprintln(a.out, "no backend cools down")
		return outputError(err)
	}
	names := 0
	for _, r := range list {
		names = max(names, len(r.name()))
	}
	for _, r := range list {
		text := fmt.Sprintf("%-*s  until %s, in %s  after %s", names, oneLine(r.name()),
			r.Until.Local().Format("2006-01-02 15:04"), roughly(r.Until.Sub(now)), oneLine(string(r.Reason)))
		if _, err = fmt.Fprintln(a.out, shorten(text, columns(a.out))); err != nil {
			break
		}
	}
	return outputError(err)
}

// name is the backend, with its model as "ask --model" takes it.
func (r resting) name() string {
	if r.Model == "" {
		return r.Backend
	}
	return r.Backend + "/" + r.Model
}

func (a *app) clearCooldowns(ctx context.Context, names []string) error {
	file, err := a.cooldownFile()
	if err != nil {
		return err
	}
	list, err := kept(ctx, file)
	if err != nil {
		return err
	}
	c, err := a.loadSpecs(nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		there := slices.ContainsFunc(list, func(r resting) bool { return r.Backend == name })
		if !there && indexOf(c.all, name) < 0 {
			return c.unknown("cooldowns clear", name)
		}
	}
	var cleared []string
	for _, r := range list {
		if len(names) > 0 && !slices.Contains(names, r.Backend) {
			continue
		}
		forget := func(cooldown.State) cooldown.State { return cooldown.State{} }
		if err := file.Update(ctx, r.key, forget); err != nil {
			return &statusError{exitFailed, fmt.Errorf("%s: %w", oneLine(r.name()), err)}
		}
		cleared = append(cleared, oneLine(r.name()))
	}
	text := "nothing to clear"
	if len(cleared) > 0 {
		slices.Sort(cleared)
		text = "cleared: " + strings.Join(slices.Compact(cleared), ", ")
	}
	_, err = fmt.Fprintln(a.out, text)
	return outputError(err)
}
