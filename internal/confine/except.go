package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/localfile"
)

// exceptions are the real paths that a call does not get with a directory that contains them. Most calls need none or
// only those for reading, and each costs a look at the disk, so they are computed when they are needed.
type exceptions struct {
	credentials, others []string // neither read nor changed: credentials and the state of other CLIs
	startup, path       []string // not changed: files that act at the start of a shell, and directories on PATH
	reading, writing    []string // all that are not read, and all that are not changed; nil until they are needed
}

// unreadable returns the exceptions for reading.
func (p *plan) unreadable() []string {
	if p.except.reading == nil {
		p.links.list(p.homes, ".config", ".local/share")
		p.except.credentials = p.links.expandBoth(deniedPaths(change), p.place)
		p.except.others = p.links.expandBoth(p.in.OtherState, p.place)
		p.except.reading = slices.Concat(p.except.credentials, p.except.others)
	}
	return p.except.reading
}

// unwritable returns the exceptions for writing, which include those for reading.
func (p *plan) unwritable() []string {
	if p.except.writing == nil {
		p.except.startup = p.links.expandBoth(deniedPaths(landlock.Write), p.place)
		p.except.path = p.pathDirs()
		p.except.writing = slices.Concat(p.unreadable(), p.except.startup, p.except.path)
	}
	return p.except.writing
}

// deniedPaths returns the paths of the exceptions with a right.
func deniedPaths(access landlock.Access) (paths []string) {
	for _, group := range denied {
		if group.access == access {
			paths = append(paths, group.paths...)
		}
	}
	return paths
}

// expandBoth returns the real paths of templates, as seen by the CLI and by this process, whose home directories may
// differ.
func (r *resolver) expandBoth(templates []string, place grammar.Place) (paths []string) {
	host := hostPlace()
	for _, text := range templates {
		template, err := grammar.ReadPath(text)
		if err != nil {
			continue
		}
		paths = r.appendReal(paths, template, place)
		value := os.Getenv(template.Variable())
		if host.Home != place.Home || value != place.Vars[template.Variable()] {
			host.Vars[template.Variable()] = value
			paths = r.appendReal(paths, template, host)
		}
	}
	return paths
}

// pathDirs returns the directories on PATH of the CLI and of this process. It omits those below a directory that the
// call may change, such as the programs of a Python environment. A hidden directory of the home belongs to a package
// manager.
func (p *plan) pathDirs() (dirs []string) {
	var projects []string
	for _, dir := range append([]string{p.in.Dir}, p.in.AddDirs...) {
		if real := p.links.real(dir); !p.wide(real) && !p.hidden(real) {
			projects = append(projects, real)
		}
	}
	for _, list := range slices.Compact([]string{p.place.Vars["PATH"], os.Getenv("PATH")}) {
		for _, dir := range filepath.SplitList(list) {
			real := p.links.real(dir)
			inside := func(project string) bool { return localfile.Within(real, project) }
			if filepath.IsAbs(dir) && !slices.ContainsFunc(projects, inside) {
				dirs = append(dirs, real)
			}
		}
	}
	return dirs
}

// hidden reports whether a path is in a hidden directory of a home directory. A copy of package workspace is not.
func (p *plan) hidden(path string) bool {
	if p.links.copied(path) {
		return false
	}
	return slices.ContainsFunc(p.homes, func(home string) bool {
		rest, ok := strings.CutPrefix(path, home+root)
		return ok && strings.Contains(root+rest, root+".")
	})
}
