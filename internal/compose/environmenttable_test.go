package compose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

const (
	variablesBegin = "<!-- variables, made by TestEnvironmentTable -->\n"
	variablesEnd   = "<!-- end of variables -->\n"
)

// variableRow is one row of the table in docs/reference/environment.md: a variable, when
// that applies, and the CLIs that get it.
type variableRow struct {
	name, when string
	cells      map[string]string // by the name of the spec
}

// docs/reference/environment.md has what each CLI receives; -update writes it.
func TestEnvironmentTable(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "Every CLI gets, where this process has them: %s; on Windows also %s.\n\n", quoted(commonEnv), quoted(WindowsEnv))
	fmt.Fprintf(&b, "It always gets %s, and PWD. It never gets %s, unless `Config.PassEnv` has the whole name.\n\n", quoted(quietEnv), quoted(shellEnv))
	b.WriteString("| Variable | When |")
	for _, spec := range specs.Every() {
		fmt.Fprintf(&b, " %s |", spec.Name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(specs.Every())) + "\n")
	for _, row := range variableRows() {
		fmt.Fprintf(&b, "| `%s` | %s |", row.name, row.when)
		for _, spec := range specs.Every() {
			fmt.Fprintf(&b, " %s |", row.cells[spec.Name])
		}
		b.WriteString("\n")
	}
	goldenPart(t, "../../docs/reference/environment.md", variablesBegin, variablesEnd, b.String())
}

// variableRows are those of all built-in specs; the same row of several is one.
func variableRows() (rows []variableRow) {
	add := func(spec, name, when, cell string) {
		i := slices.IndexFunc(rows, func(r variableRow) bool { return r.name == name && r.when == when })
		if i < 0 {
			i = len(rows)
			rows = append(rows, variableRow{name, when, map[string]string{}})
		}
		rows[i].cells[spec] = cell
	}
	for _, spec := range specs.Every() {
		for _, name := range spec.PassEnv {
			add(spec.Name, name, "always", "passed")
		}
	}
	for _, spec := range specs.Every() {
		for _, rule := range spec.PassEnvIf {
			for _, name := range rule.Pass {
				add(spec.Name, name, signs(rule), "passed")
			}
		}
	}
	for _, spec := range specs.Every() {
		for _, name := range slices.Concat(spec.DropEnv, spec.NestedEnv) {
			add(spec.Name, name, "never", "withheld")
		}
		for _, row := range spec.Env {
			add(spec.Name, row.Name, "by clichain itself", "set")
		}
	}
	return rows
}

// signs says when a rule applies.
func signs(rule clispec.PassRule) string {
	var parts []string
	if len(rule.Env) > 0 {
		parts = append(parts, "set: "+quoted(rule.Env))
	}
	for _, model := range rule.Models {
		parts = append(parts, "a model `"+model+"…`")
	}
	var files []string
	for _, f := range rule.Files {
		if !slices.Contains(files, f.Path) {
			files = append(files, f.Path)
		}
	}
	if len(files) > 0 {
		parts = append(parts, "named in "+quoted(files[:1])+strings.Repeat(" (or another of the user's)", min(1, len(files)-1)))
	}
	return strings.Join(parts, "; ")
}

func quoted(list []string) string { return "`" + strings.Join(list, "`, `") + "`" }
