package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
// names.
func MakeState(in Input) error {
	p := &plan{in: in, place: placeOf(in), links: newResolver()}
	moved := func(s clispec.StatePath) bool { return len(p.moved(s.Path)) > 0 }
	if slices.ContainsFunc(in.Spec.Confine.State, moved) {
		p = newPlan(in) // movable needs the home directories
	}
	home := p.links.real(p.place.Home)
	if in.Access == call.AccessFull {
		return nil
	}
	usable := filepath.IsAbs(p.place.Home) && isDir(home) && localfile.Writable(home)
	var failed []error
	ensure := func(template string, create func(path string) error) {
		for _, path := range p.movable(template) {
			switch {
			case path == home:
			case usable && localfile.Within(path, home):
				failed = append(failed, create(path))
			case p.fromVariable(template):
				_ = create(path) // where a variable says; if it fails, it also fails for a CLI that is not confined
			}
		}
	}
	for _, state := range in.Spec.Confine.State {
		switch {
		case state.Optional:
		case state.File:
			ensure(state.Path, makeFile)
		default:
			ensure(state.Path, makeDir)
		}
	}
	for _, template := range p.missingCaches() {
		ensure(template, makeDir)
	}
	return errors.Join(failed...)
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

// makeFile creates a file, unless it exists. No other process sees it before it is complete.
func makeFile(path string) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return nil
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
