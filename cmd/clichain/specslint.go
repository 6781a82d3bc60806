package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain/specs"
	"github.com/spf13/cobra"
)

func (a *app) specsLintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check files of specs",
		Long: `Check files of specs, in JSON or YAML.

Each problem is a line FILE:LINE:COLUMN: path: message. A line that says
"warning" after the place tells of what is legal and probably not meant. The
exit status is 2 when there is a mistake; warnings leave it 0.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("specs lint needs the name of a file")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.lintSpecs(args) },
	}
}

// lintSpecs checks all files, whatever is found in the first.
func (a *app) lintSpecs(files []string) error {
	var lines []string
	bad := false
	for _, file := range files {
		found, ok := lintFile(file)
		lines, bad = append(lines, found...), bad || !ok
	}
	if _, err := fmt.Fprintln(a.out, strings.Join(lines, "\n")); err != nil {
		return outputError(err)
	}
	if bad {
		return &statusError{status: exitUsage}
	}
	return nil
}

// lintFile is what to say about a file, and whether it can be used.
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
	lines = problemLines(file, problems)
	if slices.ContainsFunc(problems, func(p *specs.Problem) bool { return !p.Warning }) {
		return lines, false
	}
	return append(lines, fmt.Sprintf("%s: ok: %s", file, count(len(list), "spec"))), true
}

// count is "1 spec", "2 specs".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
