package console

import (
	"fmt"

	"github.com/spf13/cobra"
)

// CommandsOnly refuses an argument that is no command, and says which command was probably meant.
func CommandsOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
		return Usagef("%s: did you mean %q? (see %s --help)", text, meant[0], cmd.CommandPath())
	}
	return Usagef("%s (see %s --help; a question begins with \"clichain ask\")", text, cmd.CommandPath())
}

// AtMostOneArg refuses several arguments, which are most often one text without its quotes.
func AtMostOneArg(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return Usagef("%s takes one %s, and got %d arguments, the second of which is %q: put quotes around it",
				command, what, len(args), args[1])
		}
		return nil
	}
}

// ExactlyOneArg takes one argument.
func ExactlyOneArg(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usagef("%s takes one %s, and got %d arguments", command, what, len(args))
		}
		return nil
	}
}
