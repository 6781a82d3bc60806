package console

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of commands, in the order in which the help lists them.
const (
	CommandsAsk     = "Ask"
	CommandsInspect = "Inspect"
	CommandsQueue   = "Batch and queue"
	CommandsServe   = "Serve"
	CommandsSetup   = "Set up"
)

// helpWidth is the width of help texts in columns.
const helpWidth = 100

// AddGroup adds commands to root, in a group of its help.
func AddGroup(root *cobra.Command, group string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: group, Title: group + ":"})
	for _, cmd := range commands {
		cmd.GroupID = group
		root.AddCommand(cmd)
	}
}

// Usage prints the usage of a command: the examples, and the commands and flags in their groups. It is for
// [cobra.Command.SetUsageFunc].
func Usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeCommands(&b, cmd)
	for _, g := range GroupedFlags(cmd) {
		fmt.Fprintf(&b, "\n%s:\n%s", g.Title(), g.text())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// writeCommands lists the commands below cmd in their groups, and the help topics.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	var without, topics []*cobra.Command
	inGroup := map[string][]*cobra.Command{}
	for _, sub := range cmd.Commands() {
		switch {
		case sub.IsAdditionalHelpTopicCommand():
			topics = append(topics, sub)
		case !sub.IsAvailableCommand():
		case sub.GroupID != "":
			inGroup[sub.GroupID] = append(inGroup[sub.GroupID], sub)
		default:
			without = append(without, sub)
		}
	}
	for _, group := range cmd.Groups() {
		writeList(b, group.Title, inGroup[group.ID])
	}
	writeList(b, "Commands:", without)
	writeList(b, "Help topics:", topics)
}

func writeList(b *strings.Builder, title string, commands []*cobra.Command) {
	if len(commands) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, cmd := range commands {
		fmt.Fprintf(b, "  %-*s %s\n", cmd.NamePadding(), cmd.Name(), cmd.Short)
	}
}

// FlagGroup is a group of flags of one command.
type FlagGroup struct {
	Group param.Group // empty: flags without a group
	Flags *pflag.FlagSet
}

// Title returns the heading of the group, such as "Limit flags".
func (g FlagGroup) Title() string {
	if g.Group == "" {
		return "Flags"
	}
	return strings.TrimSuffix(string(g.Group), "s") + " flags"
}

// text returns the lines of the help for the flags.
func (g FlagGroup) text() string {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	shown.SortFlags = false
	g.Flags.VisitAll(func(flag *pflag.Flag) {
		line := *flag
		typed := typedValue{Value: flag.Value}
		typed.kind, line.Usage = FlagText(flag)
		if line.Value = typed; typed.kind == "" {
			line.Value = flag.Value // pflag shows no type for a bool
		}
		if line.DefValue == "[]" {
			line.DefValue = ""
		}
		shown.AddFlag(&line)
	})
	return shown.FlagUsagesWrapped(helpWidth)
}

// typedValue is a value whose type pflag shows as kind.
type typedValue struct {
	pflag.Value
	kind string
}

// Type returns the kind.
func (v typedValue) Type() string { return v.kind }

// FlagText returns the name of a flag's value, empty for a flag without a value, and the description of the flag.
func FlagText(flag *pflag.Flag) (value, usage string) {
	value, usage = pflag.UnquoteUsage(flag)
	return value, strings.TrimPrefix(usage, value+": ")
}

// GroupedFlags returns the flags of a command that are not hidden, in the order of param.Groups.
func GroupedFlags(cmd *cobra.Command) (groups []FlagGroup) {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for _, name := range append(slices.Clone(param.Groups), "") {
		g := FlagGroup{name, pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)}
		g.Flags.SortFlags = false
		cmd.Flags().SortFlags = false
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden && param.GroupOf(flag.Name) == name {
				g.Flags.AddFlag(flag)
			}
		})
		if g.Flags.HasFlags() {
			groups = append(groups, g)
		}
	}
	return groups
}
