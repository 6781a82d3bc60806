package main

import (
	"github.com/clichain/clichain/cmd/clichain/internal/version"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what the program was built from",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.version(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) version(asJSON bool) error {
	if asJSON {
		return a.PrintJSON(version.Read())
	}
	return console.OutputError(version.Read().Print(a.Out))
}
