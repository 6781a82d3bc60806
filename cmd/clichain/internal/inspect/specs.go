package inspect

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/specs"
	"github.com/spf13/cobra"
)

// specFile completes names of spec files.
var specFile = cobra.FixedCompletions([]string{"json", "yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)

// specFlags are the flags of specs.
type specFlags struct {
	param.Values
	json, yaml bool
}

// NewSpecs makes the command specs.
func NewSpecs(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	var f specFlags
	cmd := &cobra.Command{
		Use:   "specs [NAME]",
		Short: "Show what clichain knows about each CLI",
		Long: `Show the specs: everything that clichain knows about each CLI, as data. With
NAME, --json or --yaml, the output is in the format that --spec and
CLICHAIN_SPECS read. To change a spec, save the output, edit it, and check it
with "clichain specs lint".`,
		Example: `  clichain specs
  clichain specs claude --yaml > mine.yaml
  clichain specs --spec mine.yaml`,
		Args: func(cmd *cobra.Command, args []string) error { return nameOrCommand(r, cmd, args) },
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return selection.NamesOf(selection.KnownSpecs(env, cmd)), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return showSpecs(r, f, args) },

		SuggestionsMinimumDistance: 2,
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print the specs as JSON")
	cmd.Flags().BoolVar(&f.yaml, "yaml", false, "print the specs as YAML")
	param.Pick(cmd.Flags(), &f.Values, "spec")
	cmd.AddCommand(specsLintCommand(r), specsDiffCommand(env))
	r.AddFlags(cmd.Flags())
	return cmd
}

func showSpecs(r *selection.Resolver, f specFlags, args []string) error {
	if f.json && f.yaml {
		return console.Usagef("specs: use only one of --json and --yaml")
	}
	c, err := r.Catalog(f.SpecFiles)
	if err != nil {
		return err
	}
	var shown any = c.All
	if len(args) == 1 {
		one, err := c.Choose("specs", args)
		if err != nil {
			return err
		}
		shown = one[0]
	}
	switch {
	case f.yaml:
		return console.WriteYAML(r.Out, shown)
	case f.json || len(args) == 1:
		return console.WriteJSON(r.Out, shown, true)
	}
	return listSpecs(r, c.All)
}

func listSpecs(r *selection.Resolver, all []clichain.CliSpec) error {
	rows := [][]string{{"NAME", "PROGRAM", "PROVIDER", "DEFAULT MODEL", "CHECKED"}}
	for _, s := range all {
		programs := strings.Join(append([]string{s.Binary}, s.AltBinaries...), ", ")
		rows = append(rows, []string{
			s.Name, programs, cmp.Or(s.ProviderSlug, "-"), cmp.Or(s.DefaultModel, "-"), cmp.Or(s.CheckedWith, "-"),
		})
	}
	p := console.NewPage(console.Style{}, math.MaxInt)
	p.Table(rows)
	return r.Print(p.String())
}

// nameOrCommand accepts the name of a spec. It rejects a word that resembles a command.
func nameOrCommand(r *selection.Resolver, cmd *cobra.Command, args []string) error {
	known := func(name string) bool { return selection.IndexOf(selection.KnownSpecs(r.Env, cmd), name) >= 0 }
	if len(args) > 0 && !known(args[0]) && len(cmd.SuggestionsFor(args[0])) > 0 {
		return console.CommandsOnly(cmd, args)
	}
	return console.AtMostOneArg("specs", "NAME")(cmd, args)
}

func specsLintCommand(r *selection.Resolver) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check files of specs",
		Long: `Check files of specs in JSON or YAML. Each problem is printed as a line
FILE:LINE:COLUMN: path: message. A line with "warning" marks a value that is
valid but probably unintended. Warnings do not change the exit code.`,
		Example: `  clichain specs lint mine.yaml
  clichain specs lint mine.yaml team.json
  clichain specs lint mine.yaml && clichain ask --spec mine.yaml "Hello"`,
		ValidArgsFunction: specFile,
		RunE:              func(_ *cobra.Command, args []string) error { return lintSpecs(r, args) },
	}
}

// lintSpecs checks all files, even after an invalid one.
func lintSpecs(r *selection.Resolver, files []string) error {
	if len(files) == 0 {
		return console.Usagef("specs lint takes FILE..., but got 0 arguments (see clichain specs lint --help)")
	}
	var lines []string
	bad := false
	for _, file := range files {
		found, ok := lintFile(file)
		lines, bad = append(lines, found...), bad || !ok
	}
	if _, err := fmt.Fprintln(r.Out, strings.Join(lines, "\n")); err != nil {
		return console.OutputError(err)
	}
	if bad {
		return console.Fail(console.ExitUsage, nil)
	}
	return nil
}

// lintFile returns the lines to print about a file, and reports whether the file is valid.
func lintFile(file string) (lines []string, ok bool) {
	f, err := os.Open(file)
	if err != nil {
		return []string{err.Error()}, false
	}
	defer f.Close()
	list, problems, err := specs.Lint(f)
	if err != nil {
		return []string{file + ": " + err.Error()}, false
	}
	lines = selection.ProblemLines(file, problems)
	if slices.ContainsFunc(problems, func(p *specs.Problem) bool { return !p.Warning }) {
		return lines, false
	}
	plural := "s"
	if len(list) == 1 {
		plural = ""
	}
	return append(lines, fmt.Sprintf("%s: ok: %d spec%s", file, len(list), plural)), true
}
