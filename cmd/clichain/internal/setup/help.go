// Package setup has the commands that install and explain the program: completion, help and the help topics.
package setup

import (
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/spf13/cobra"
)

// NewHelp makes the command help.
func NewHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Show the help of a command or topic",
		Long:  `Show the help of a command or of a help topic. "clichain help" lists both.`,
		Example: `  clichain help
  clichain help queue retry
  clichain help exit-codes`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if found, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range found.Commands() {
					if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
						names = append(names, sub.Name())
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return console.Usagef("help: unknown command or topic %q; see \"%s --help\"", strings.Join(args, " "),
					cmd.Root().Name())
			}
			return found.Help()
		},
	}
}
