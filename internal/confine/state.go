package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
)

func temp(p *plan) []string       { return []string{p.in.Temp} }
func images(p *plan) []string     { return p.in.Images }
func dir(p *plan) []string        { return []string{p.in.Dir} }
func addDirs(p *plan) []string    { return p.in.AddDirs }
func dirs(p *plan) []string       { return append(dir(p), p.in.AddDirs...) }
func readPaths(p *plan) []string  { return p.configured(p.in.ReadPaths) }
func writePaths(p *plan) []string { return p.configured(p.in.WritePaths) }

// state returns the files and directories that the CLI keeps.
func (p *plan) state() (paths []string) {
	for _, state := range p.in.Spec.Confine.State {
		paths = append(paths, p.movable(state.Path)...)
	}
	return paths
}

// loginFiles returns the further files that a login of the CLI needs.
func (p *plan) loginFiles() (paths []string) {
	read := p.in.Read
	if read == nil {
		read = p.in.Spec.Confine.Read
	}
	for _, path := range read {
		paths = append(paths, expand(path, p.place)...)
	}
	return paths
}

// loginCaches returns the files that a login of the CLI changes.
func (p *plan) loginCaches() (paths []string) {
	for _, path := range p.in.Write {
		paths = append(paths, expand(path, p.place)...)
	}
	return paths
}

// configured expands paths of the configuration.
func (p *plan) configured(paths []string) (expanded []string) {
	for _, path := range paths {
		expanded = append(expanded, expand(path, p.place)...)
	}
	return expanded
}

// MakeState creates the missing state of the CLI, except optional state, because a confined CLI cannot create it in the
// home directory. New directories have the mode 0700, and new files 0600. A new JSON file holds an empty object, any
// other nothing. MakeState follows links. At AccessWrite, it also creates the missing caches of programs on PATH. It
// creates nothing in a home that does not exist or is not writable. Outside the home it only creates what a variable
// names. It returns an [Error] if state below the home cannot be created or is no directory. An error of any other path
// is ignored, because an unconfined CLI would have it too, and a path without a rule denies the CLI its files.
func MakeState(in Input) error {
	p := planOfState(in)
	if err := p.eachState(makeDir, makeFile); err != nil {
		return err
	}
	for _, template := range p.missingCaches() {
		_ = p.ensure(template, makeDir)
	}
	return nil
}

// CheckState returns the [Error] of [MakeState] if it is known without a change, else nil.
func CheckState(in Input) error { return planOfState(in).eachState(findDir, findFile) }

// planOfState returns a plan for the state of a CLI.
func planOfState(in Input) *plan {
	p := &plan{in: in, place: placeOf(in), links: newResolver()}
	moved := func(s clispec.StatePath) bool { return len(p.moved(s.Path)) > 0 }
	if slices.ContainsFunc(in.Spec.Confine.State, moved) {
		return newPlan(in) // movable needs the home directories
	}
	return p
}

// eachState calls a function for each path of the state that is not optional.
func (p *plan) eachState(dir, file func(path string) error) error {
	if p.in.Access == call.AccessFull {
		return nil
	}
	for _, state := range p.in.Spec.Confine.State {
		do := dir
		if state.File {
			do = file
		}
		if state.Optional {
			continue
		}
		if err := p.ensure(state.Path, do); err != nil {
			return err
		}
	}
	return nil
}

// ensure calls a function for each path of a template that may be created. It returns an [Error] if the function fails
// for a path below the home.
func (p *plan) ensure(template string, do func(path string) error) error {
	home := p.links.real(p.place.Home)
	usable := filepath.IsAbs(p.place.Home) && isDir(home) && localfile.Writable(home)
	for _, path := range p.movable(template) {
		switch {
		case path == home:
		case usable && localfile.Within(path, home):
			if err := do(path); err != nil {
				return &Error{"state", p.nameOf(template, path), "cannot hold the state of the CLI: " + err.Error()}
			}
		case p.fromVariable(template):
			_ = do(path)
		}
	}
	return nil
}

// nameOf returns the path by which the CLI finds the state at a real path.
func (p *plan) nameOf(template, real string) string {
	for _, path := range expand(template, p.place) {
		if p.links.real(path) == real {
			return path
		}
	}
	return real
}

// fromVariable reports whether a variable of the CLI names the path of a template.
func (p *plan) fromVariable(template string) bool {
	t, err := grammar.ReadPath(template)
	return err == nil && p.place.Vars[t.Variable()] != ""
}

func makeDir(path string) error { return os.MkdirAll(path, 0o700) }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// findDir returns an error if makeDir would find a file in place of the directory, or a path that leads nowhere.
func findDir(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.IsDir():
		return &fs.PathError{Op: "stat", Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

// findFile returns an error if makeFile would find a path that leads nowhere.
func findFile(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return findDir(filepath.Dir(path))
}

// makeFile creates a file, unless it exists. No other process sees it before it is complete.
func makeFile(path string) (err error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".clichain-*") // with the mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	if strings.HasSuffix(path, ".json") {
		_, err = file.WriteString("{}\n")
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

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
