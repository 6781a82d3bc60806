package selection

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/specs"
)

// Catalog has the built-in specs and the specs of the user's files.
type Catalog struct {
	All   []clichain.CliSpec
	named []string // built-in specs that a chain tries only if they are named
}

// Catalog reads the spec files of the settings and of the flags. A spec replaces the spec of the same name, and is
// part of the chain.
func (r *Resolver) Catalog(files []string) (Catalog, error) {
	chain := specs.All()
	c := Catalog{All: specs.Every()}
	for _, spec := range c.All {
		if IndexOf(chain, spec.Name) < 0 {
			c.named = append(c.named, spec.Name)
		}
	}
	s, err := r.Settings()
	if err != nil {
		return Catalog{}, err
	}
	for _, file := range s.Specs {
		if err := s.checkSpecs(file); err != nil {
			return Catalog{}, err
		}
		if err := c.add(s.origin("specs"), file); err != nil {
			return Catalog{}, err
		}
	}
	for _, file := range files {
		if err := c.add("--spec", file); err != nil {
			return Catalog{}, err
		}
	}
	return c, nil
}

func (c *Catalog) add(source, file string) error {
	more, err := LoadFile(source, file)
	for _, spec := range more {
		if i := IndexOf(c.All, spec.Name); i >= 0 {
			c.All[i] = spec
		} else {
			c.All = append(c.All, spec)
		}
		c.named = slices.DeleteFunc(c.named, func(name string) bool { return name == spec.Name })
	}
	return err
}

// Split returns the specs of the chain, and the specs that it tries only if they are named.
func (c *Catalog) Split() (chain, named []clichain.CliSpec) {
	for _, spec := range c.All {
		if slices.Contains(c.named, spec.Name) {
			named = append(named, spec)
		} else {
			chain = append(chain, spec)
		}
	}
	return chain, named
}

// LoadFile reads a file of specs. The error has one line for each problem, with its position.
func LoadFile(source, file string) ([]clichain.CliSpec, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, console.Usagef("%s: %v", source, err)
	}
	defer f.Close()
	list, err := specs.Load(f)
	if all, ok := errors.AsType[*specs.LoadError](err); ok {
		return nil, console.Usagef("%s: %s", source, strings.Join(ProblemLines(file, all.Problems), "\n  "))
	}
	if err != nil {
		return nil, console.Usagef("%s: %s: %v", source, file, err)
	}
	return list, nil
}

// ProblemLines formats problems as FILE:LINE:COLUMN: TEXT, which editors can jump to.
func ProblemLines(file string, problems []*specs.Problem) []string {
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

// IndexOf returns the index of the spec with a name, or -1.
func IndexOf(list []clichain.CliSpec, name string) int {
	return slices.IndexFunc(list, func(s clichain.CliSpec) bool { return s.Name == name })
}

// Choose picks the named specs, in the order of the names.
func (c *Catalog) Choose(source string, names []string) ([]clichain.CliSpec, error) {
	chosen, unknown := c.Pick(names)
	if len(unknown) > 0 {
		return nil, c.Unknown(source, unknown[0])
	}
	return chosen, nil
}

// Pick returns the named specs in the order of the names, and the unknown names.
func (c *Catalog) Pick(names []string) (chosen []clichain.CliSpec, unknown []string) {
	for _, name := range names {
		spec, ok := c.spec(name)
		switch {
		case !ok:
			unknown = append(unknown, name)
		case IndexOf(chosen, spec.Name) < 0:
			chosen = append(chosen, spec)
		}
	}
	return chosen, unknown
}

// spec returns the spec of a name. The name "claude/haiku" stands for an instance of claude with that model, which has
// the name "claude-haiku".
func (c *Catalog) spec(name string) (spec clichain.CliSpec, ok bool) {
	if i := IndexOf(c.All, name); i >= 0 {
		return c.All[i], true
	}
	backend, model, _ := strings.Cut(name, "/")
	i := IndexOf(c.All, backend)
	if i < 0 || model == "" {
		return spec, false
	}
	spec = c.All[i]
	spec.InstanceOf, spec.UseModel = cmp.Or(spec.InstanceOf, spec.Name), model
	spec.Name = strings.TrimRight(spec.Name+"-"+strings.Map(inName, model), "-")
	return spec, true
}

// inName replaces a character that the name of a backend cannot have.
func inName(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		return r
	case r >= 'A' && r <= 'Z':
		return r - 'A' + 'a'
	}
	return '-'
}

// Unknown returns the error for an unknown name of a spec.
func (c *Catalog) Unknown(source, name string) error {
	names := NamesOf(c.All)
	return console.Usagef("%s: unknown backend %q: known are %s%s", source, name, strings.Join(names, ", "),
		console.DidYouMean(name, names))
}

// Choose picks the backends of --only, else of the settings, else of the chain.
func (r *Resolver) Choose(c Catalog, only []string) ([]clichain.CliSpec, error) {
	if len(only) > 0 {
		return c.Choose("--only", only)
	}
	order, source, err := r.Order()
	if err != nil {
		return nil, err
	}
	if len(order) == 0 {
		chain, _ := c.Split()
		return chain, nil
	}
	return c.Choose(source, order)
}

// Order returns the names in the settings and their source. Without names, the order is that of the chain.
func (r *Resolver) Order() (names []string, source string, err error) {
	s, err := r.Settings()
	if err != nil {
		return nil, "", err
	}
	return s.Order, s.origin("order"), s.Invalid["order"]
}

// NamesOf returns the names of specs.
func NamesOf(list []clichain.CliSpec) (names []string) {
	for _, spec := range list {
		names = append(names, spec.Name)
	}
	return names
}

// BuiltinNames returns the names of all built-in specs.
func BuiltinNames() []string { return NamesOf(specs.Every()) }

// Known returns an error for a flag that names an unknown backend.
func (c *Catalog) Known(flag string, named iter.Seq[string]) error {
	for _, name := range slices.Sorted(named) {
		if IndexOf(c.All, name) < 0 {
			return c.Unknown(flag, name)
		}
	}
	return nil
}
