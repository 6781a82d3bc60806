package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/jsondiff"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/specs"
	"github.com/spf13/cobra"
)

func specsDiffCommand(env *console.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff FILE",
		Short: "Compare a file of specs with the built-in specs",
		Long: `Compare each spec of a file with the built-in spec of the same name. A named
instance is compared with the spec that it is an instance of. Each line has the
path of a field: "~" marks a changed value, "+" a field that only the file has,
"-" a field that only the built-in spec has. The exit code is 1 if there is a
difference, or if no built-in spec has the name.`,
		Example: `  clichain specs diff mine.yaml
  clichain specs diff mine.yaml --json
  clichain specs claude --yaml > mine.yaml && clichain specs diff mine.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return console.Usagef("specs diff needs the name of one file, and got %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: specFile,
		RunE:              func(_ *cobra.Command, args []string) error { return diffSpecs(env, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// comparison is the result for one spec of a file.
type comparison struct {
	Name        string                `json:"name"`
	Builtin     string                `json:"builtin"` // name of the built-in spec; "": there is none
	Differences []jsondiff.Difference `json:"differences"`
}

func diffSpecs(env *console.Env, file string, asJSON bool) error {
	list, err := selection.LoadFile("specs diff", file)
	if err != nil {
		return err
	}
	all := []comparison{}
	for _, spec := range list {
		c, err := compare(spec)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if asJSON {
		err = env.PrintJSON(map[string]any{"specs": all})
	} else {
		err = env.Print(linesOf(all))
	}
	differs := func(c comparison) bool { return c.Builtin == "" || len(c.Differences) > 0 }
	if err == nil && slices.ContainsFunc(all, differs) {
		err = console.Fail(console.ExitFailed, nil)
	}
	return err
}

func compare(spec clichain.CliSpec) (comparison, error) {
	c := comparison{Name: spec.Name, Differences: []jsondiff.Difference{}}
	base, ok := specs.ByName(cmp.Or(spec.InstanceOf, spec.Name))
	if !ok {
		return c, nil
	}
	c.Builtin = base.Name
	base.Name, base.InstanceOf = spec.Name, spec.InstanceOf
	found, err := jsondiff.Compare(base, spec)
	c.Differences = append(c.Differences, found...)
	return c, err
}

// linesOf returns the comparisons as text.
func linesOf(all []comparison) string {
	var b strings.Builder
	for _, c := range all {
		switch {
		case c.Builtin == "":
			fmt.Fprintf(&b, "%s: no built-in spec has this name\n", c.Name)
		case len(c.Differences) == 0:
			fmt.Fprintf(&b, "%s: same as the built-in spec\n", c.Name)
		default:
			fmt.Fprintf(&b, "%s: differs from the built-in spec %s\n", c.Name, c.Builtin)
		}
		for _, d := range c.Differences {
			b.WriteString("  " + d.String() + "\n")
		}
	}
	return b.String()
}
