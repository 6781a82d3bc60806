package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

// loadFile reads a file of specs. The error has a line for each mistake, with
// its place and its path within the file.
func loadFile(source, file string) ([]clichain.CliSpec, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, usagef("%s: %v", source, err)
	}
	defer f.Close()
	list, err := specs.Load(f)
	if all, ok := errors.AsType[*specs.LoadError](err); ok {
		return nil, usagef("%s: %s", source, strings.Join(problemLines(file, all.Problems), "\n  "))
	}
	if err != nil {
		return nil, usagef("%s: %s: %v", source, file, err)
	}
	return list, nil
}

// problemLines are the problems in the form that editors can jump to.
func problemLines(file string, problems []*specs.Problem) []string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		parts := []string{file}
		if p.Line > 0 {
			parts[0] = fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
		}
		if p.Warning {
			parts = append(parts, "warning")
		}
		if p.Path != "" {
			parts = append(parts, p.Path)
		}
		lines[i] = oneLine(strings.Join(append(parts, p.Message), ": "))
	}
	return lines
}
