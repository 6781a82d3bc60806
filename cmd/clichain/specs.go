package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/clichain/clichain"
	"github.com/spf13/cobra"
)

func (a *app) specsCommand() *cobra.Command {
	var (
		files  []string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "specs [NAME]",
		Short: "Show what clichain knows about each CLI, as data",
		Long: `Show the specs: everything clichain knows about each CLI, as plain data.

With a NAME, or with --json, the output is what --spec and CLICHAIN_SPECS read:
save it, change it, and use it.`,
		Args:              atMostOne("specs", "NAME"),
		ValidArgsFunction: cobra.FixedCompletions(builtinNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.showSpecs(files, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all of it as JSON")
	addSpecFlag(cmd.Flags(), &files)
	return cmd
}

func (a *app) showSpecs(files, args []string, asJSON bool) error {
	all, err := a.loadSpecs(files)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		one, err := choose(all, "specs", args)
		if err != nil {
			return err
		}
		return writeJSON(a.out, one[0], true)
	}
	if asJSON {
		return writeJSON(a.out, all, true)
	}
	return a.listSpecs(all)
}

func (a *app) listSpecs(all []clichain.CliSpec) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tPROGRAM\tPROVIDER\tDEFAULT MODEL\tCHECKED")
	for _, s := range all {
		programs := strings.Join(append([]string{s.Binary}, s.AltBinaries...), ", ")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, programs, dash(s.ProviderSlug), dash(s.DefaultModel), dash(s.CheckedWith))
	}
	return outputError(w.Flush())
}

func dash(s string) string { return cmp.Or(s, "-") }

// atMostOne refuses what is most often a text without its quotes.
func atMostOne(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s takes one %s, and got %d arguments, the second of which is %q: put quotes around it", command, what, len(args), args[1])
		}
		return nil
	}
}
