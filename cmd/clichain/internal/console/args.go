package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CommandsOnly rejects an argument that is not a command, and suggests the command that it resembles.
func CommandsOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
		return Usagef("%s; did you mean %q? (see %s --help)", text, meant[0], cmd.CommandPath())
	}
	return Usagef("%s (see %s --help; to ask a question, use \"clichain ask\")", text, cmd.CommandPath())
}

// NoArgs rejects all arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no arguments, but got %q (see %s --help)", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

// AtMostOneArg rejects several arguments, which are most often one text without quotes.
func AtMostOneArg(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return Usagef("%s takes one %s, but got %d arguments; put quotes around %q and the others",
				command, what, len(args), args[1])
		}
		return nil
	}
}

// ExactlyOneArg rejects any number of arguments except one.
func ExactlyOneArg(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usagef("%s takes one %s, but got %d arguments (see clichain %s --help)", command, what, len(args), command)
		}
		return nil
	}
}

// FlagError is the error for a wrong flag of cmd. It suggests the flag that an unknown one resembles.
func FlagError(cmd *cobra.Command, err error) error {
	help := fmt.Sprintf("(see %s --help)", cmd.CommandPath())
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || !strings.HasPrefix(err.Error(), "unknown flag") {
		return Usagef("%v %s", err, help)
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	if meant := Meant(unknown.GetSpecifiedName(), names); meant != "" {
		return Usagef("%v; did you mean --%s? %s", err, meant, help)
	}
	return Usagef("%v %s", err, help)
}

// Meant returns the known word that is nearest to word. It returns "" if none is near: a near word differs in at most
// two letters, and in at most a third of the letters of word.
func Meant(word string, known []string) string {
	words := &cobra.Command{}
	for _, name := range known {
		words.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for distance := 1; distance <= min(2, len(word)/3); distance++ {
		words.SuggestionsMinimumDistance = distance
		if found := words.SuggestionsFor(word); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// DidYouMean returns the end of an error about an unknown word, such as `; did you mean "codex"?`, or "" if the word
// resembles no known word.
func DidYouMean(word string, known []string) string {
	if meant := Meant(word, known); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ""
}
