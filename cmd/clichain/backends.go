package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/specs"
	"github.com/spf13/pflag"
)

const (
	orderVariable     = "CLICHAIN_ORDER"
	timeoutVariable   = "CLICHAIN_TIMEOUT"
	specsVariable     = "CLICHAIN_SPECS"
	cooldownsVariable = "CLICHAIN_COOLDOWNS" // a file, or "off"
)

func addSpecFlag(flags *pflag.FlagSet, files *[]string) {
	flags.StringArrayVar(files, "spec", nil, "add the specs of this JSON or YAML `file`, or replace some")
}

// loadSpecs returns the built-in specs and those of the user's files. A spec of a known name replaces that one.
func (a *app) loadSpecs(files []string) ([]clichain.CliSpec, error) {
	all := specs.All()
	add := func(source, file string) error {
		more, err := loadFile(source, file)
		for _, spec := range more {
			if i := indexOf(all, spec.Name); i >= 0 {
				all[i] = spec
			} else {
				all = append(all, spec)
			}
		}
		return err
	}
	if file := a.env(specsVariable); file != "" {
		if err := add(specsVariable, file); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		if err := add("--spec", file); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// loadFile reads a file of specs. The error has a line for each mistake, with its place and its path within the file.
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

// problemLines writes problems as FILE:LINE:COLUMN: TEXT, the form that editors can jump to.
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

// inOrder picks the backends that --only names; without it those of the environment; without both all of them.
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

func namesOf(list []clichain.CliSpec) (names []string) {
	for _, spec := range list {
		names = append(names, spec.Name)
	}
	return names
}

func builtinNames() []string { return namesOf(specs.All()) }

// binaries are the programs of --binary, by the backend's name.
type binaries map[string]string

func addBinaryFlag(flags *pflag.FlagSet, programs *binaries) {
	*programs = binaries{}
	flags.Func("binary", "run the program at path, `name=path`, for that backend", programs.add)
}

func (b binaries) add(text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok || name == "" || path == "" {
		return errors.New("write backend=path, such as claude=/opt/claude/bin/claude")
	}
	if strings.ContainsRune(path, filepath.Separator) { // else it is looked for on PATH
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		path = abs
	}
	b[name] = path
	return nil
}

// providers makes a backend of each spec.
func (b binaries) providers(
	list []clichain.CliSpec, accounts map[string]string, cfg clichain.Config,
) (backends []clichain.Backend) {
	for _, spec := range list {
		own := cfg
		own.Binary, own.Account = b[spec.Name], accounts[spec.Name]
		backends = append(backends, clichain.NewProvider(spec, &own))
	}
	return backends
}

// known refuses a flag that is about a backend that there is not.
func known(flag string, named map[string]string, all []clichain.CliSpec) error {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if indexOf(all, name) < 0 {
			return usagef("%s: unknown backend %q: known are %s", flag, name, strings.Join(namesOf(all), ", "))
		}
	}
	return nil
}

// cooldowns is the file through which the calls of this user share the cooldowns of their backends, or nil.
func (a *app) cooldowns() cooldown.Store {
	path := a.env(cooldownsVariable)
	if path == "off" {
		return nil
	}
	if path == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil // a machine without a home
		}
		path = filepath.Join(dir, "clichain", "cooldowns.json")
	}
	return cooldown.NewFile(path, func(err error) {
		// A place that cannot be written to is usual in sandboxes, and not worth a warning.
		if _, usual := errors.AsType[*fs.PathError](err); !usual {
			fmt.Fprintf(a.err, "clichain: warning: %s\n", oneLine(err.Error()))
		}
	})
}
