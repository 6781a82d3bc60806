package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/clichain/clichain"
)

func (a *app) specsCommand() *cobra.Command {
	var (
		files []string
		form  specForm
	)
	cmd := &cobra.Command{
		Use:   "specs [NAME] | specs lint FILE...",
		Short: "Show what clichain knows about each CLI, as data",
		Long: `Show the specs: everything clichain knows about each CLI, as plain data.

With a NAME, --json or --yaml, the output is what --spec and CLICHAIN_SPECS
read: save it, change it, check it with "clichain specs lint", and use it.`,
		Args:              atMostOne("specs", "NAME"),
		ValidArgsFunction: cobra.FixedCompletions(builtinNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.showSpecs(files, args, form)
		},
	}
	cmd.Flags().BoolVar(&form.json, "json", false, "print all of it as JSON")
	cmd.Flags().BoolVar(&form.yaml, "yaml", false, "print all of it as YAML")
	addSpecFlag(cmd.Flags(), &files)
	cmd.AddCommand(a.specsLintCommand())
	return cmd
}

// specForm is how specs are to be printed.
type specForm struct{ json, yaml bool }

func (f specForm) print(a *app, value any) error {
	if f.yaml {
		return writeYAML(a.out, value)
	}
	return writeJSON(a.out, value, true)
}

func (a *app) showSpecs(files, args []string, form specForm) error {
	if form.json && form.yaml {
		return usagef("specs: --json and --yaml exclude each other")
	}
	all, err := a.loadSpecs(files)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		one, err := choose(all, "specs", args)
		if err != nil {
			return err
		}
		return form.print(a, one[0])
	}
	if form.json || form.yaml {
		return form.print(a, all)
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
