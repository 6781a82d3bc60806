package inspect

import (
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/version"
	"github.com/spf13/cobra"
)

// NewVersion makes the command version.
func NewVersion(env *console.Env) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and build information",
		Long: `Print the version of clichain and how it was built. Include this output in bug
reports.`,
		Example: `  clichain version
  clichain version --json
  clichain version --json | jq -r .version`,
		Args: console.NoArgs,
		RunE: func(*cobra.Command, []string) error { return printVersion(env, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printVersion(env *console.Env, asJSON bool) error {
	if asJSON {
		return env.PrintJSON(version.Read())
	}
	return console.OutputError(version.Read().Print(env.Out))
}
