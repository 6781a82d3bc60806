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

	environmentPage = "../../docs/reference/environment.md"
)

// TestEnvironmentTable compares docs/reference/environment.md with the specs; -update writes it.
func TestEnvironmentTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n## Every CLI\n\n")
	fmt.Fprintf(&b, "- Passed: %s\n- Passed on Windows: %s\n", quoted(commonEnv), quoted(WindowsEnv))
	fmt.Fprintf(&b, "- Set: %s, `PWD`\n", quoted(quietEnv))
	fmt.Fprintf(&b, "- Withheld, unless `Config.PassEnv` has the whole name: %s\n", quoted(shellEnv))
	fmt.Fprintf(&b, "- Withheld from a CLI that the kernel confines, unless `Config.PassEnv` has the whole name: %s\n", quoted(socketEnv))
	for _, spec := range specs.Every() {
		b.WriteString("\n" + variablesOf(spec))
	}
	goldenPart(t, environmentPage, variablesBegin, variablesEnd, b.String()+"\n")
}

// variablesOf returns the section of the page about one CLI.
func variablesOf(spec clispec.Spec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n- Passed: %s\n", spec.Name, quoted(spec.PassEnv))
	if withheld := slices.Concat(spec.DropEnv, spec.NestedEnv); len(withheld) > 0 {
		fmt.Fprintf(&b, "- Withheld: %s\n", quoted(withheld))
	}
	var set, files []string
	for _, row := range spec.Env {
		set = appendNew(set, row.Name)
	}
	if len(set) > 0 {
		fmt.Fprintf(&b, "- Set: %s\n", quoted(set))
	}
	for _, rule := range spec.PassEnvIf {
		for _, f := range rule.Files {
			files = appendNew(files, f.Path)
		}
	}
	if len(spec.PassEnvIf) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "- Settings files: %s\n\n| Passed | Variable that is set | Model | Settings file |\n|---|---|---|---|\n", quoted(files))
	for _, rule := range spec.PassEnvIf {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", quoted(rule.Pass), quoted(rule.Env), quotedModels(rule.Models), ruleFiles(rule, files))
	}
	return b.String()
}

// ruleFiles returns "any" for all files of a spec, and the paths otherwise.
func ruleFiles(rule clispec.PassRule, all []string) string {
	var files []string
	for _, f := range rule.Files {
		files = appendNew(files, f.Path)
	}
	if len(files) == len(all) {
		return "any"
	}
	return quoted(files)
}

func quotedModels(prefixes []string) string {
	var models []string
	for _, prefix := range prefixes {
		models = append(models, prefix+"…")
	}
	return quoted(models)
}

func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

func quoted(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "`" + strings.Join(list, "`, `") + "`"
}
