package confine

import (
	"slices"

	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
)

// movable returns the real paths of the template of a state that may be created and granted. A variable can move state
// to any path, also by mistake. The home directory and the directories around it are no state.
func (p *plan) movable(template string) []string {
	moved := p.moved(template)
	return slices.DeleteFunc(p.links.expand(template, p.place), func(path string) bool {
		return p.wide(path) || slices.Contains(moved, path) && !p.mayHoldState(path)
	})
}

// moved returns the real paths to which a variable moves the files of a template.
func (p *plan) moved(template string) []string {
	if !p.fromVariable(template) {
		return nil
	}
	t, _ := grammar.ReadPath(template) // fromVariable has parsed it
	usual, _ := t.Fallback()
	unmoved := p.links.expand(usual, p.place)
	return slices.DeleteFunc(p.links.expand(template, p.place), func(path string) bool {
		return slices.Contains(unmoved, path)
	})
}

// mayHoldState reports whether a real path may be the state of the CLI. It must not belong to the system, to
// credentials, to another CLI or to programs.
func (p *plan) mayHoldState(real string) bool {
	p.unwritable()
	inside := func(path string) bool { return localfile.Within(real, path) }
	around := func(path string) bool { return localfile.Within(real, path) || localfile.Within(path, real) }
	system := func(row Row) bool { return around(row.Path) }
	return !slices.ContainsFunc(systemRows(), system) &&
		!slices.ContainsFunc(p.except.credentials, around) && !slices.ContainsFunc(p.except.others, around) &&
		!slices.ContainsFunc(p.except.startup, inside) && !slices.ContainsFunc(p.except.path, inside)
}
