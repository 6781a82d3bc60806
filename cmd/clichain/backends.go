package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

const (
	orderVariable   = "CLICHAIN_ORDER"
	timeoutVariable = "CLICHAIN_TIMEOUT"
	specsVariable   = "CLICHAIN_SPECS"
)

func addSpecFlag(flags *pflag.FlagSet, files *[]string) {
	flags.StringArrayVar(files, "spec", nil, "add the specs of this JSON or YAML `file`, or replace some")
}

// loadSpecs returns the built-in specs and those of the user's files.
func (a *app) loadSpecs(files []string) ([]clichain.CliSpec, error) {
	all := specs.All()
	if file := a.env(specsVariable); file != "" {
		more, err := loadFile(specsVariable, file)
		if err != nil {
			return nil, err
		}
		all = merge(all, more)
	}
	for _, file := range files {
		more, err := loadFile("--spec", file)
		if err != nil {
			return nil, err
		}
		all = merge(all, more)
	}
	return all, nil
}

// merge adds specs; one of a known name takes that one's place.
func merge(all, more []clichain.CliSpec) []clichain.CliSpec {
	for _, spec := range more {
		if i := indexOf(all, spec.Name); i >= 0 {
			all[i] = spec
		} else {
			all = append(all, spec)
		}
	}
	return all
}

func indexOf(list []clichain.CliSpec, name string) int {
	return slices.IndexFunc(list, func(s clichain.CliSpec) bool { return s.Name == name })
}

// choose picks the named specs, in the order of the names.
func choose(all []clichain.CliSpec, source string, names []string) ([]clichain.CliSpec, error) {
	var chosen []clichain.CliSpec
	for _, name := range names {
		i := indexOf(all, name)
		if i < 0 {
			return nil, usagef("%s: unknown backend %q: known are %s", source, name, strings.Join(namesOf(all), ", "))
		}
		if indexOf(chosen, name) < 0 {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, nil
}

// inOrder picks what --only names, else what the environment does, else all.
func (a *app) inOrder(all []clichain.CliSpec, only []string) ([]clichain.CliSpec, error) {
	if len(only) > 0 {
		return choose(all, "--only", only)
	}
	text := a.env(orderVariable)
	if strings.TrimSpace(text) == "" {
		return all, nil
	}
	names, err := parseNames(text)
	if err != nil {
		return nil, usagef("%s=%q: %v", orderVariable, text, err)
	}
	return choose(all, orderVariable, names)
}

// timeout is the flag's value, else the environment's, else 0 for the default.
func (a *app) timeout(flag time.Duration) (time.Duration, error) {
	text := a.env(timeoutVariable)
	if flag > 0 || text == "" {
		return flag, nil
	}
	d, err := parseDuration(text)
	if err != nil {
		return 0, usagef("%s=%q: %v", timeoutVariable, text, err)
	}
	return d, nil
}

func namesOf(list []clichain.CliSpec) []string {
	var names []string
	for _, spec := range list {
		names = append(names, spec.Name)
	}
	return names
}

func builtinNames() []string { return namesOf(specs.All()) }
