package selection

import (
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/specs"
	"github.com/spf13/cobra"
)

// ofCommand returns the Resolver for the flags of a command line that a shell completes.
func ofCommand(env *console.Env, cmd *cobra.Command) *Resolver {
	r := NewResolver(env)
	r.ConfigFlag, _ = cmd.Flags().GetString("config") // not all commands have these flags
	r.ProfileFlag, _ = cmd.Flags().GetString("profile")
	return r
}

// KnownSpecs returns the specs of a command line, or only the built-in specs if a file is invalid.
func KnownSpecs(env *console.Env, cmd *cobra.Command) []clichain.CliSpec {
	files, _ := cmd.Flags().GetStringArray("spec")
	c, err := ofCommand(env, cmd).Catalog(files)
	if err != nil {
		return specs.Every()
	}
	return c.All
}

// CompleteNames completes the last name of a list of backends.
func CompleteNames(env *console.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, text string) (found []string, _ cobra.ShellCompDirective) {
		before := text[:strings.LastIndexByte(text, ',')+1]
		for _, name := range NamesOf(KnownSpecs(env, cmd)) {
			if !slices.Contains(strings.Split(before, ","), name) {
				found = append(found, before+name)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteName completes the name of a backend. Models are known only to the CLIs.
func CompleteName(env *console.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return NamesOf(KnownSpecs(env, cmd)), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompletePair completes the name in name=value. The directive applies to the value.
func CompletePair(env *console.Env, value cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, text string) (found []string, _ cobra.ShellCompDirective) {
		if strings.Contains(text, "=") {
			return nil, value
		}
		for _, name := range NamesOf(KnownSpecs(env, cmd)) {
			found = append(found, name+"=")
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// CompleteProfile completes the name of a profile of the settings file.
func CompleteProfile(env *console.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		place, err := ofCommand(env, cmd).SettingsPath()
		if err == nil && place.Value != "" {
			if file, err := LoadSettingsFile(place); err == nil {
				names = slices.Sorted(maps.Keys(file.Profiles))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
