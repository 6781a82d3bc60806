// Package confine computes the files that a call may use if the kernel confines its CLI: the rules of one call for
// package landlock. It also compares the files that act outside the confinement before and after a run.
package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/localfile"
)

// Input describes the call of one CLI.
type Input struct {
	Spec    *clispec.Spec
	Access  call.Access
	Program string   // absolute path of the CLI; symbolic links are followed
	Env     []string // environment of the CLI
	Dir     string   // absolute working directory
	AddDirs []string
	Images  []string
	Servers [][]string // command lines of the MCP servers of the request
	Temp    string     // private directory of the call, which is also TMPDIR

	// Read lists the further files that the login needs for the model of the call, in the form of
	// clispec.ConfineRules.Read. Nil means the list of the spec.
	Read []string
	// Write lists the files that the login also changes, in the form of clispec.PassRule.Write.
	Write []string
	// ReadPaths and WritePaths are granted in addition, at every level below AccessFull. Each must exist.
	ReadPaths, WritePaths []string
	// Caches replaces the default list of caches that a call may write at AccessWrite. Nil means the default list.
	// A cache that does not exist is skipped.
	Caches []string
	// OtherState lists the state of other CLIs, as in clispec.StatePath.Path. It is hidden like credentials.
	OtherState []string
}

// Error is the error for a directory or path that a call cannot be confined to. The call must not start then, because
// a confined program may have caused the error.
type Error struct {
	Field   string // "dir", "add_dirs", "read_paths", "write_paths", "cache_paths" or "state"
	Value   string
	Problem string
}

// Error returns the field, the value and the problem.
func (e *Error) Error() string { return fmt.Sprintf("%s: %q %s", e.Field, e.Value, e.Problem) }

// Rules returns the rules of a call, sorted by path, and nil at AccessFull, which is never confined. A file that does
// not exist gets no rule, so call [MakeState] first. If the working directory is the home directory, a call with
// AccessWrite may change its entries that exist and are not hidden. The error is an [Error].
func Rules(in Input) ([]landlock.Rule, error) {
	if in.Access == call.AccessFull {
		return nil, nil
	}
	p := newPlan(in)
	if err := p.check(); err != nil {
		return nil, err
	}
	for _, row := range rows {
		if access := row.at(in.Access); access != 0 {
			for _, path := range row.paths(p) {
				row.grant(p, path, access)
			}
		}
	}
	rules := make([]landlock.Rule, 0, len(p.granted))
	for _, path := range slices.Sorted(maps.Keys(p.granted)) {
		if access := p.granted[path]; access&^p.above(path) != 0 {
			rules = append(rules, landlock.Rule{Path: path, Access: access, NoLinks: true})
		}
	}
	return rules, nil
}

// above returns the rights that the directories above a real path give to it.
func (p *plan) above(path string) (access landlock.Access) {
	for path != root {
		path = path[:max(strings.LastIndexByte(path, filepath.Separator), len(root))]
		access |= p.granted[path]
	}
	return access
}

// plan collects the rules of one call.
type plan struct {
	in       Input
	place    grammar.Place
	links    *resolver
	homes    []string // real home directories: that of the CLI first, then that of this process
	managers []string // real directories of package managers; nil until they are needed
	except   exceptions
	granted  map[string]landlock.Access
}

func newPlan(in Input) *plan {
	p := &plan{in: in, place: placeOf(in), links: newResolver(), granted: map[string]landlock.Access{}}
	for _, home := range []string{p.place.Home, os.Getenv("HOME")} {
		if real := p.links.real(home); filepath.IsAbs(home) && real != root {
			p.homes = append(p.homes, real)
		}
	}
	p.homes = slices.Compact(p.homes)
	p.links.list(p.homes, "")
	return p
}

// root is the directory that contains all files.
const root = string(filepath.Separator)

// placeOf returns the environment in which the CLI looks for its files.
func placeOf(in Input) grammar.Place {
	vars := make(map[string]string, len(in.Env))
	grammar.SetAll(vars, in.Env)
	return grammar.Place{Vars: vars, Home: vars["HOME"], Dir: in.Dir}
}

// expand returns the paths of a template in the form of clispec.FileFact.Path.
func expand(template string, place grammar.Place) []string {
	t, err := grammar.ReadPath(template)
	if err != nil {
		return nil
	}
	paths, ok := t.Paths(place)
	if !ok {
		return nil
	}
	return paths
}

// hostPlace returns the environment of this process with some of its variables.
func hostPlace(names ...string) grammar.Place {
	place := grammar.Place{Vars: map[string]string{}, Home: os.Getenv("HOME"), Dir: root}
	for _, name := range names {
		place.Vars[name] = os.Getenv(name)
	}
	return place
}

// check returns an [Error] for a path of the call or of its configuration that cannot be granted.
func (p *plan) check() error {
	for _, field := range []struct {
		name     string
		paths    []string
		optional bool
	}{
		{"read_paths", p.in.ReadPaths, false}, {"write_paths", p.in.WritePaths, false}, {"cache_paths", p.in.Caches, true},
	} {
		for _, path := range field.paths {
			if problem := p.problem(path, field.optional); problem != "" {
				return &Error{field.name, path, problem}
			}
		}
	}
	if p.in.Access == call.AccessNone {
		return nil
	}
	if err := p.checkDir("dir", p.in.Dir); err != nil {
		return err
	}
	for _, dir := range p.in.AddDirs {
		if err := p.checkDir("add_dirs", dir); err != nil {
			return err
		}
	}
	return nil
}

// problem returns why a configured path cannot be granted, or "".
func (p *plan) problem(path string, optional bool) string {
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
		return `is not an absolute path and does not start with "~/"`
	}
	for _, path := range expand(path, p.place) {
		if _, err := os.Stat(path); err == nil || optional && errors.Is(err, fs.ErrNotExist) {
			return ""
		}
	}
	return "does not exist"
}

// checkDir refuses a directory that holds credentials, and at AccessWrite one whose files act outside the confinement.
func (p *plan) checkDir(field, dir string) error {
	real := p.links.real(dir)
	inside := func(path string) bool { return localfile.Within(real, path) && !p.links.copied(real) }
	p.unreadable()
	write := p.in.Access == call.AccessWrite
	if write {
		p.unwritable()
	}
	switch {
	case slices.ContainsFunc(p.except.credentials, inside) || slices.Contains(p.except.others, real):
		return &Error{field, dir, "holds credentials or the state of another program: select another directory"}
	case write && slices.ContainsFunc(p.except.startup, inside):
		return &Error{field, dir, "holds programs or settings that act outside the confinement: select another directory"}
	case write && p.aboveHome(real):
		return &Error{field, dir, "contains the home directory: select a directory below the home directory"}
	}
	return nil
}

// copied reports whether a directory is in a private copy that package workspace made. The copies are below clichain's
// cache, which is an exception, so that a call cannot use the copies of others.
func (links *resolver) copied(dir string) bool {
	const depth = 3 // the directory of the original, the number of the copy, its name
	for _, work := range links.expand("${XDG_CACHE_HOME:-~/.cache}/clichain/work", hostPlace("XDG_CACHE_HOME")) {
		if rest, ok := strings.CutPrefix(dir, work+root); ok && strings.Count(rest, root) >= depth-1 {
			return true
		}
	}
	return false
}

// aboveHome reports whether a directory is the root directory, or contains a home directory and is none itself.
func (p *plan) aboveHome(dir string) bool {
	contains := func(home string) bool { return dir != home && localfile.Within(home, dir) }
	return dir == root || slices.ContainsFunc(p.homes, contains)
}
