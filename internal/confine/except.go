package confine

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/landlock"
)

// deny collects the exceptions, as seen by the CLI and by this process, whose home directories may differ.
func (p *plan) deny() {
	for _, place := range []grammar.Place{p.place, hostPlace()} {
		for _, state := range p.in.OtherState {
			p.others = append(p.others, p.links.expand(state, place)...)
		}
		for _, group := range denied {
			list := &p.credentials
			if group.access == landlock.Write {
				list = &p.startup
			}
			for _, path := range group.paths {
				*list = append(*list, p.links.expand(path, place)...)
			}
		}
		for _, dir := range filepath.SplitList(place.Vars["PATH"]) {
			if real := p.links.real(dir); filepath.IsAbs(dir) && !p.inProject(real) {
				p.path = append(p.path, real)
			}
		}
	}
	for _, list := range []*[]string{&p.credentials, &p.others, &p.startup, &p.path} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

// inProject reports whether a directory on PATH belongs to a directory that the call may change, such as the programs
// of a Python environment. A hidden directory of the home belongs to a package manager instead.
func (p *plan) inProject(dir string) bool {
	for _, project := range append([]string{p.in.Dir}, p.in.AddDirs...) {
		project = p.links.real(project)
		if within(dir, project) && !p.aboveHome(project) && !slices.Contains(p.homes, project) && !p.hidden(project) {
			return true
		}
	}
	return false
}

// hidden reports whether a path is in a hidden directory of a home directory. A copy of package workspace is not.
func (p *plan) hidden(path string) bool {
	if p.copied(path) {
		return false
	}
	return slices.ContainsFunc(p.homes, func(home string) bool {
		rest, ok := strings.CutPrefix(path, home+root)
		return ok && strings.Contains(root+rest, root+".")
	})
}
