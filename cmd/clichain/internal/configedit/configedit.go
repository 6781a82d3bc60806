// Package configedit has the commands that change the settings file.
package configedit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/settings"
	"github.com/spf13/cobra"
)

// NewSet makes the command config set.
func NewSet(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	cmd := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Set a value in the settings file",
		Long: `Set a value in the settings file, and create the file if it does not exist.
VALUE has the form of the environment variable of the setting: names are
separated by commas. An invalid value changes nothing. Comments and the order of
the other settings are kept. "clichain help settings" lists the settings.`,
		Example: `  clichain config set timeout 60s
  clichain config set order codex,claude
  clichain config set --profile ci billing api_key`,
		Args:              takes("config set", "KEY VALUE", 2),
		ValidArgsFunction: completeKey,
		RunE:              func(_ *cobra.Command, args []string) error { return set(r, args[0], args[1]) },
	}
	addFlags(cmd, r)
	return cmd
}

// NewUnset makes the command config unset.
func NewUnset(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	cmd := &cobra.Command{
		Use:   "unset KEY",
		Short: "Remove a value from the settings file",
		Long: `Remove a value from the settings file, so that its default applies. Comments and
the order of the other settings are kept.`,
		Example: `  clichain config unset timeout
  clichain config unset --profile ci billing
  clichain config unset order --config work.yaml`,
		Args:              takes("config unset", "KEY", 1),
		ValidArgsFunction: completeKey,
		RunE:              func(_ *cobra.Command, args []string) error { return unset(r, args[0]) },
	}
	addFlags(cmd, r)
	return cmd
}

func addFlags(cmd *cobra.Command, r *selection.Resolver) {
	r.AddFlags(cmd.Flags())
	cmd.Flags().Lookup("profile").Usage = "`name` of the profile to change (default none)"
}

func takes(command, usage string, count int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != count {
			return console.Usagef("%s takes %s, but got %d arguments (see clichain %s --help)", command, usage, len(args),
				command)
		}
		return nil
	}
}

func completeKey(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return keys(), cobra.ShellCompDirectiveNoFileComp
}

func keys() (names []string) {
	for _, e := range selection.Entries {
		names = append(names, e.Name)
	}
	return names
}

// entryOf finds the setting with a name.
func entryOf(command, key string) (selection.Entry, error) {
	for _, e := range selection.Entries {
		if e.Name == key {
			return e, nil
		}
	}
	if settings.Secret(key) {
		return selection.Entry{}, console.Usagef("%s: KEY looks like a secret", command)
	}
	return selection.Entry{}, console.Usagef("%s: unknown setting %q: known are %s%s", command, key,
		strings.Join(keys(), ", "), console.DidYouMean(key, keys()))
}

func set(r *selection.Resolver, key, value string) error {
	e, err := entryOf("config set", key)
	if err != nil {
		return err
	}
	if settings.Secret(value) {
		return console.Usagef("config set %s: VALUE looks like a secret; keep it in an environment variable of the CLI", key)
	}
	values, list, err := e.Parse(value)
	if err == nil && slices.Contains([]string{"specs", "cooldowns"}, key) {
		err = makeAbsolute(values)
	}
	if err != nil {
		return console.Usagef("config set %s %q: %v", key, value, err)
	}
	f, err := open("config set", r)
	if err != nil {
		return err
	}
	err = f.change(func(d *document) error {
		d.set(r.ProfileFlag, key, values, list)
		return nil
	})
	if err != nil {
		return err
	}
	if variable := e.Variable; r.Getenv(variable) != "" {
		fmt.Fprintf(r.Err, "clichain: warning: %s is set and overrides this setting\n", variable)
	}
	return f.report(r, fmt.Sprintf("set %s to %s", key, strings.Join(values, ",")), "in")
}

// makeAbsolute makes paths of the command line absolute: relative paths in the file are relative to its directory.
func makeAbsolute(paths []string) (err error) {
	for i, path := range paths {
		if path != "off" && !strings.HasPrefix(path, "~/") && err == nil {
			paths[i], err = filepath.Abs(path)
		}
	}
	return err
}

func unset(r *selection.Resolver, key string) error {
	if _, err := entryOf("config unset", key); err != nil {
		return err
	}
	f, err := open("config unset", r)
	if err != nil {
		return err
	}
	err = f.change(func(d *document) error {
		if !d.unset(r.ProfileFlag, key) {
			return console.Usagef("config unset: %s is not set in %s", key, f.place(r))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.report(r, "removed "+key, "from")
}

// change changes the content of the settings file, which must be valid before and after.
func (f *file) change(do func(*document) error) error {
	if f.exists {
		if err := f.check(f.path); err != nil {
			return err
		}
	}
	d := parse(f.data)
	if err := do(d); err != nil {
		return err
	}
	data, err := d.text()
	if err != nil {
		return console.Fail(console.ExitFailed, err)
	}
	return f.write(data)
}

// report prints what was written where.
func (f *file) report(r *selection.Resolver, done, preposition string) error {
	_, err := fmt.Fprintln(r.Out, terminal.OneLine(fmt.Sprintf("%s %s %s", done, preposition, f.place(r))))
	return console.OutputError(err)
}

// place is the file, or the profile of the file that the command changes.
func (f *file) place(r *selection.Resolver) string {
	if r.ProfileFlag == "" {
		return f.path
	}
	return "profile " + r.ProfileFlag + " of " + f.path
}
