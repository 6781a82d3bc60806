package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// eachShownCommand calls do for the root, and for each command and topic that the help lists.
func eachShownCommand(t *testing.T, do func(t *testing.T, cmd *cobra.Command)) {
	root := newRoot(&console.Env{Getenv: func(string) string { return "" }})
	checked := 0
	eachCommand(root, func(cmd *cobra.Command) {
		checked++
		t.Run(cmd.CommandPath(), func(t *testing.T) { do(t, cmd) })
	})
	require.Greater(t, checked, 30)
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?]( |$)`)
	imperatives = strings.Fields("Answer Ask Cancel Change Check Clear Compare Edit List Pause Print Remove Resume Return Set Show Submit Write")
)

func TestHelpForm(t *testing.T) {
	eachShownCommand(t, func(t *testing.T, cmd *cobra.Command) {
		require.LessOrEqual(t, len(cmd.Short), 60)
		require.NotRegexp(t, `\.$`, cmd.Short)
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 80, line)
		}
		if cmd.IsAdditionalHelpTopicCommand() {
			require.NotEmpty(t, cmd.Long)
			return
		}
		first, _, _ := strings.Cut(cmd.Short, " ")
		require.Contains(t, imperatives, strings.TrimSuffix(first, ","))
		text := strings.Join(strings.Fields(cmd.Long), " ")
		require.Regexp(t, `\.$`, text)
		sentences := len(sentenceEnd.FindAllString(text, -1))
		require.GreaterOrEqual(t, sentences, 2, text)
		require.LessOrEqual(t, sentences, 5, text)
		require.Len(t, strings.Split(cmd.Example, "\n"), 3)
	})
}

// valueNames are the names of values in the help. Each name says what type the value has.
var valueNames = strings.Fields("address amount backend=argument billing command directory duration file format id level mode " +
	"model name name=account name=file name=model name=value names number origin permission reason session share text time tool url urls")

func TestHelpFlags(t *testing.T) {
	eachShownCommand(t, func(t *testing.T, cmd *cobra.Command) {
		for _, g := range console.GroupedFlags(cmd) {
			g.Flags.VisitAll(func(flag *pflag.Flag) {
				require.NotEmpty(t, g.Group, "--%s has no group: add it to the package param", flag.Name)
				value, usage := console.FlagText(flag)
				if flag.NoOptDefVal == "" {
					require.Contains(t, valueNames, value, "--%s", flag.Name)
				}
				require.NotEmpty(t, usage, "--%s", flag.Name)
				require.NotRegexp(t, `^[A-Z][a-z]|\.$`, usage, "--%s", flag.Name)
				if param.GroupOf(flag.Name) == param.GroupLimits && flag.Name != "agent" {
					require.Contains(t, usage, "(default ", "--%s", flag.Name)
				}
			})
		}
	})
}

// TestHelpListsGroups checks that the help shows commands and flags below the headings of their groups.
func TestHelpListsGroups(t *testing.T) {
	root := newRoot(&console.Env{Getenv: func(string) string { return "" }})
	for _, cmd := range root.Commands() {
		require.True(t, cmd.GroupID != "" || cmd.IsAdditionalHelpTopicCommand(), "%s has no group", cmd.Name())
	}
	text := root.UsageString()
	for _, want := range []string{
		"\nAsk:\n  ask ", "\nInspect:\n", "\nBatch and queue:\n  batch ", "\nServe:\n  mcp ", "\nSet up:\n",
		"\nHelp topics:\n",
	} {
		require.Contains(t, text, want)
	}
	ask, _, err := root.Find([]string{"ask"})
	require.NoError(t, err)
	text = ask.UsageString()
	for _, want := range []string{
		"\nRequest flags:\n", "\nBackend flags:\n", "\nLimit flags:\n", "\nOutput flags:\n",
		"\n      --timeout duration ", "\n      --access level ", "\n      --prompt-file file ", " limit of each backend (default 25s)\n",
	} {
		require.Contains(t, text, want)
	}
}

// TestFlagWithoutGroupFails checks that the check of the groups fails for a flag without a group.
func TestFlagWithoutGroupFails(t *testing.T) {
	cmd := &cobra.Command{Use: "new"}
	cmd.Flags().Bool("new", false, "new flag")
	groups := console.GroupedFlags(cmd)
	require.Empty(t, groups[len(groups)-1].Group)
	require.NotNil(t, groups[len(groups)-1].Flags.Lookup("new"))
}

// TestHelpExamples parses the flags and arguments of each clichain command in the examples.
func TestHelpExamples(t *testing.T) {
	eachShownCommand(t, func(t *testing.T, cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			commands := exampleCommands(line)
			require.NotEmpty(t, commands, line)
			for _, args := range commands {
				root := newRoot(&console.Env{Getenv: func(string) string { return "" }})
				found, rest, err := root.Find(args)
				require.NoError(t, err, line)
				require.NoError(t, found.ParseFlags(rest), line)
				require.NoError(t, found.ValidateArgs(found.Flags().Args()), line)
				require.NotEqual(t, root, found, line)
			}
		}
	})
}

var exampleWord = regexp.MustCompile(`'[^']*'|"[^"]*"|[|;]|&&|<\(|\$\(|[^\s'"|;()&]+|[()]`)

// exampleCommands returns the arguments of each clichain command in a line of shell.
func exampleCommands(line string) (commands [][]string) {
	line = strings.ReplaceAll(line, `"$(clichain config path)"`, "$(clichain config path)")
	words := exampleWord.FindAllString(line, -1)
	for i, word := range words {
		if word != "clichain" {
			continue
		}
		args := words[i+1:]
		end := slices.IndexFunc(args, func(w string) bool {
			return slices.Contains([]string{"|", ";", "&&", ")", ">", ">>"}, w)
		})
		if end >= 0 {
			args = args[:end]
		}
		args = slices.Clone(args)
		for j, arg := range args {
			args[j] = strings.Trim(arg, `'"`)
		}
		commands = append(commands, args)
	}
	return commands
}
