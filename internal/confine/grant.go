package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/localfile"
)

// grantWhole grants a path with everything below it.
func (p *plan) grantWhole(path string, access landlock.Access) {
	if at := p.links.look(path); at.exists {
		p.granted[at.path] |= access
	}
}

// grantTemp grants the private directory of the call, which is created later.
func grantTemp(p *plan, path string, access landlock.Access) {
	if filepath.IsAbs(path) {
		p.granted[filepath.Join(p.links.real(filepath.Dir(path)), filepath.Base(path))] |= access
	}
}

// grantNamed grants a path that the caller or the user named, without the exceptions below it. It may be below one.
func (p *plan) grantNamed(path string, access landlock.Access) {
	p.grantExcept(path, access, nil, true)
}

// grantFound grants a path without the exceptions. If the path is an exception itself, it grants nothing.
func (p *plan) grantFound(path string, access landlock.Access) {
	p.grantExcept(path, access, nil, false)
}

// grantHome grants the home directory, if it is not the root directory.
func grantHome(p *plan, path string, access landlock.Access) {
	if p.links.real(path) != root {
		p.grantNamed(path, access)
	}
}

// grantRoot grants the root directory, without the exceptions and without the directories that other rows grant.
func grantRoot(p *plan, path string, access landlock.Access) {
	p.grantExcept(path, access, p.elsewhere(), false)
}

// elsewhere returns what is not granted with the root directory.
func (p *plan) elsewhere() (paths []string) {
	for _, path := range elsewhere {
		paths = append(paths, p.links.real(path))
	}
	return append(paths, p.homes...)
}

// grantDir grants a working directory. A directory above the home is granted like the root directory.
func (p *plan) grantDir(path string, access landlock.Access) {
	if !p.aboveHome(p.links.real(path)) {
		p.grantNamed(path, access)
		return
	}
	p.grantExcept(path, access, p.elsewhere(), true)
	for _, home := range p.homes {
		p.grantNamed(home, access)
	}
}

// grantEmpty grants a directory if it contains nothing but empty files.
func grantEmpty(p *plan, path string, access landlock.Access) {
	if emptyDir(path, 0) {
		p.grantWhole(path, access)
	}
}

// emptyDir reports whether a directory contains only a few empty files, like the working directory of calls without
// access.
func emptyDir(dir string, depth int) bool {
	const most = 20
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > most || depth > 2 {
		return false
	}
	for _, entry := range entries {
		info, err := entry.Info()
		switch path := filepath.Join(dir, entry.Name()); {
		case err != nil:
			return false
		case entry.IsDir() && emptyDir(path, depth+1):
		case !info.Mode().IsRegular() || info.Size() > 0:
			return false
		}
	}
	return true
}

// grantExcept grants a path without the exceptions of the call and without more. The right to write has the most
// exceptions.
func (p *plan) grantExcept(path string, access landlock.Access, more []string, named bool) {
	at := p.links.look(path)
	if !at.exists {
		return
	}
	granted := p.granted[at.path] | p.above(at.path)
	if access&^granted == 0 || named && isRegular(at.path) { // exceptions below it cannot matter
		p.granted[at.path] |= access
		return
	}
	if rest := access &^ landlock.Write; rest != 0 {
		p.grantBelow(at.path, rest, slices.Concat(p.unreadable(), more), named)
	}
	if access&landlock.Write != 0 {
		p.grantBelow(at.path, landlock.Write, slices.Concat(p.unwritable(), more), named)
	}
}

// grantBelow grants a real path. A rule on a directory cannot except a file below it. So a directory that contains an
// exception gets no rule, and each of its entries gets one. Links among the entries get none, because a rule grants
// their target.
func (p *plan) grantBelow(real string, access landlock.Access, except []string, named bool) {
	var below []string
	for _, path := range except {
		switch {
		case path != real && localfile.Within(path, real):
			below = append(below, path)
		case !named && localfile.Within(real, path):
			return
		}
	}
	if len(below) == 0 {
		p.granted[real] |= access
		return
	}
	settings := access&landlock.Write != 0 && slices.Contains(p.homes, real)
	for name, link := range p.links.entries(real, 0) {
		if link || settings && strings.HasPrefix(name, ".") {
			continue
		}
		p.grantBelow(entry(real, name), access, below, false)
	}
}

func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
