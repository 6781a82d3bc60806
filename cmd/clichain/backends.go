package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/specs"
)

// catalog are the specs that the command knows: the built-in ones, and those of the user's files.
type catalog struct {
	all   []clichain.CliSpec
	named []string // of the built-in ones: what a chain asks only where it is named
}

// loadSpecs makes the catalog, of the files of the settings and of those of the flags. A spec of a known name replaces
// that one, and is part of the chain.
func (a *app) loadSpecs(files []string) (catalog, error) {
	chain := specs.All()
	c := catalog{all: specs.Every()}
	for _, spec := range c.all {
		if indexOf(chain, spec.Name) < 0 {
			c.named = append(c.named, spec.Name)
		}
	}
	s, err := a.settings()
	if err != nil {
		return catalog{}, err
	}
	for _, file := range s.Specs {
		if err := s.checkSpecs(file); err != nil {
			return catalog{}, err
		}
		if err := c.add(s.origin("specs"), file); err != nil {
			return catalog{}, err
		}
	}
	for _, file := range files {
		if err := c.add("--spec", file); err != nil {
			return catalog{}, err
		}
	}
	return c, nil
}

func (c *catalog) add(source, file string) error {
	more, err := loadFile(source, file)
	for _, spec := range more {
		if i := indexOf(c.all, spec.Name); i >= 0 {
			c.all[i] = spec
		} else {
			c.all = append(c.all, spec)
		}
		c.named = slices.DeleteFunc(c.named, func(name string) bool { return name == spec.Name })
	}
	return err
}

// split separates the specs of the chain from those that it asks only where they are named.
func (c *catalog) split() (chain, named []clichain.CliSpec) {
	for _, spec := range c.all {
		if slices.Contains(c.named, spec.Name) {
			named = append(named, spec)
		} else {
			chain = append(chain, spec)
		}
	}
	return chain, named
}

// loadFile reads a file of specs. The error has a line for each mistake, with its place and its path within the file.
func loadFile(source, file string) ([]clichain.CliSpec, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, console.Usagef("%s: %v", source, err)
	}
	defer f.Close()
	list, err := specs.Load(f)
	if all, ok := errors.AsType[*specs.LoadError](err); ok {
		return nil, console.Usagef("%s: %s", source, strings.Join(problemLines(file, all.Problems), "\n  "))
	}
	if err != nil {
		return nil, console.Usagef("%s: %s: %v", source, file, err)
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
		lines[i] = terminal.OneLine(strings.Join(append(parts, p.Message), ": "))
	}
	return lines
}

func indexOf(list []clichain.CliSpec, name string) int {
	return slices.IndexFunc(list, func(s clichain.CliSpec) bool { return s.Name == name })
}

// choose picks the named specs, in the order of the names.
func (c *catalog) choose(source string, names []string) ([]clichain.CliSpec, error) {
	chosen, unknown := c.pick(names)
	if len(unknown) > 0 {
		return nil, c.unknown(source, unknown[0])
	}
	return chosen, nil
}

// pick separates the named specs, in the order of the names, from names that are none.
func (c *catalog) pick(names []string) (chosen []clichain.CliSpec, unknown []string) {
	for _, name := range names {
		i := indexOf(c.all, name)
		switch {
		case i < 0:
			unknown = append(unknown, name)
		case indexOf(chosen, name) < 0:
			chosen = append(chosen, c.all[i])
		}
	}
	return chosen, unknown
}

func (c *catalog) unknown(source, name string) error {
	return console.Usagef("%s: unknown backend %q: known are %s", source, name, strings.Join(namesOf(c.all), ", "))
}

// inOrder picks the backends that --only names; without it those of the settings; without both those of the chain.
func (a *app) inOrder(c catalog, only []string) ([]clichain.CliSpec, error) {
	if len(only) > 0 {
		return c.choose("--only", only)
	}
	order, source, err := a.order()
	if err != nil {
		return nil, err
	}
	if len(order) == 0 {
		chain, _ := c.split()
		return chain, nil
	}
	return c.choose(source, order)
}

// order has the names of the settings, and what they come from; without names the order is that of the chain.
func (a *app) order() (names []string, source string, err error) {
	s, err := a.settings()
	if err != nil {
		return nil, "", err
	}
	return s.Order, s.origin("order"), s.wrong["order"]
}

func namesOf(list []clichain.CliSpec) (names []string) {
	for _, spec := range list {
		names = append(names, spec.Name)
	}
	return names
}

func builtinNames() []string { return namesOf(specs.Every()) }

// providersFor makes a backend of each spec.
func providersFor(list []clichain.CliSpec, f *param.Values) (backends []clichain.Backend) {
	for _, spec := range list {
		own := f.Config
		own.Binary, own.Account = cmp.Or(f.Binaries[spec.Name], f.Binaries[spec.InstanceOf]), f.Accounts[spec.Name]
		backends = append(backends, clichain.NewProvider(spec, &own))
	}
	return backends
}

// known refuses a flag that is about a backend that there is not.
func (c *catalog) known(flag string, named iter.Seq[string]) error {
	for _, name := range slices.Sorted(named) {
		if indexOf(c.all, name) < 0 {
			return c.unknown(flag, name)
		}
	}
	return nil
}

// cooldowns is the file through which the calls of this user share the cooldowns of their backends, or nil.
func (a *app) cooldowns() cooldown.Store {
	file, _ := a.cooldownFile() // a mistake has been told before
	if file == nil {
		return nil
	}
	return file
}

// cooldownFile is nil where there is none.
func (a *app) cooldownFile() (*cooldown.File, error) {
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	path := cmp.Or(s.Cooldowns, defaultCooldowns())
	if path == "" || path == "off" {
		return nil, nil
	}
	return cooldown.NewFile(path, func(err error) {
		// A place that cannot be written to is usual in sandboxes, and not worth a warning.
		if _, usual := errors.AsType[*fs.PathError](err); !usual {
			fmt.Fprintf(a.Err, "clichain: warning: %s\n", terminal.OneLine(err.Error()))
		}
	}), nil
}

// defaultCooldowns is the file without a setting; empty on a machine without a home.
func defaultCooldowns() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "clichain", "cooldowns.json")
}
