package tree

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain/call"
)

const (
	modeFile    = "100644"
	modeProgram = "100755"
	modeLink    = "120000"
)

// check reports whether the modes and contents of a section fit its kind.
func (s *section) check() error {
	if s.fromMode == "" && s.toMode == "" && s.from == s.to {
		return errPatch // nothing changes
	}
	for mode, missing := range map[string]bool{s.fromMode: s.created, s.toMode: s.deleted} {
		unchanged := mode == "" && s.fromMode == "" && s.toMode == "" // a rename without a change
		if missing && mode != "" && !known(mode) || !missing && !known(mode) && !unchanged {
			return fmt.Errorf("the mode %q is unknown", mode)
		}
	}
	if !s.created && !s.deleted && (s.fromMode == modeLink) != (s.toMode == modeLink) {
		return errPatch // git writes a change of the type as two sections
	}
	if (s.created || s.deleted) && s.toID == "" {
		return errPatch
	}
	return nil
}

// edit is the change of one path, or of two for a rename.
type edit struct {
	remove *section // from is removed or replaced; nil for a new file
	write  *section // to is written; nil for a deleted file
}

func (e edit) from() string {
	if e.remove == nil {
		return ""
	}
	return e.remove.from
}

func (e edit) to() string {
	if e.write == nil {
		return ""
	}
	return e.write.to
}

// Written returns the paths of the files that changes write. The error is the one with which Apply refuses the changes
// in every directory.
func Written(c *call.Changes) (paths []string, err error) {
	list, err := edits(c)
	for _, e := range list {
		if e.write != nil {
			paths = append(paths, e.to())
		}
	}
	return paths, err
}

// edits checks a whole Changes value, which can be hostile, and returns its edits.
func edits(c *call.Changes) ([]edit, error) {
	list, err := parse(c)
	if err != nil {
		return nil, fmt.Errorf("workspace: the changes are not valid: %w", err)
	}
	return list, nil
}

func parse(c *call.Changes) ([]edit, error) {
	if c == nil {
		return nil, errors.New("no changes were given")
	}
	if !utf8.ValidString(c.Patch) {
		return nil, errors.New("the patch is not UTF-8")
	}
	sections, err := parsePatch(c.Patch)
	if err != nil {
		return nil, err
	}
	var list []edit
	for i := range sections {
		s := &sections[i]
		for _, path := range []string{s.from, s.to} {
			if err := checkPath(path); path != "" && err != nil {
				return nil, err
			}
		}
		switch last := len(list) - 1; {
		case s.created && last >= 0 && list[last].write == nil && list[last].from() == s.to:
			list[last].write = s // a change of the type
		case s.created:
			list = append(list, edit{write: s})
		case s.deleted:
			list = append(list, edit{remove: s})
		default:
			list = append(list, edit{remove: s, write: s})
		}
	}
	if err := checkOverlaps(list); err != nil {
		return nil, err
	}
	if err := setModes(c.Files, list); err != nil {
		return nil, err
	}
	return list, checkFiles(c.Files, list)
}

// checkPath returns an error for a path that is not inside the directory, or that can be part of a .git.
func checkPath(path string) error {
	invalid := fmt.Errorf("the path %q is not allowed", path)
	if path == "" || strings.IndexByte(path, 0) >= 0 || !filepath.IsLocal(filepath.FromSlash(path)) {
		return invalid
	}
	if runtime.GOOS == "windows" && strings.ContainsAny(path, `\:`) {
		return invalid
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") || aliasOfGit(runtime.GOOS, name) {
			return invalid
		}
	}
	return nil
}

// aliasOfGit reports whether the usual file systems of an operating system take a name for .git.
func aliasOfGit(system, name string) bool {
	switch system {
	case "windows":
		name = strings.ToLower(strings.TrimRight(name, " ."))
		return name == ".git" || name == "git~1"
	case "darwin", "ios":
		// HFS+ ignores these characters in names.
		visible := strings.Map(func(c rune) rune {
			if c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff {
				return -1
			}
			return c
		}, name)
		return strings.EqualFold(visible, ".git")
	}
	return false
}

// checkOverlaps returns an error if two edits have the same path, or if a path is below a written file.
func checkOverlaps(list []edit) error {
	removed, written := map[string]bool{}, map[string]bool{}
	for _, e := range list {
		from, to := e.from(), e.to()
		if from != "" && removed[from] || to != "" && written[to] {
			return fmt.Errorf("the patch changes %q twice", cmp.Or(to, from))
		}
		removed[from], written[to] = true, true
	}
	for _, e := range list {
		for parent := range parents(e.to()) {
			if written[parent] {
				return fmt.Errorf("the patch writes both %q and %q", parent, e.to())
			}
		}
		for parent := range parents(e.from()) {
			if removed[parent] {
				return fmt.Errorf("the patch removes both %q and %q", parent, e.from())
			}
		}
	}
	return nil
}

// parents yields the parent directories of a path below the top, from the top down.
func parents(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range len(path) {
			if path[i] == '/' && !yield(path[:i]) {
				return
			}
		}
	}
}

// checkFiles returns an error unless Changes.Files describes the patch, because a user may have decided by it.
func checkFiles(files []call.FileChange, list []edit) error {
	want := make([]call.FileChange, 0, len(list))
	for _, e := range list {
		want = append(want, e.describe())
	}
	got := make([]call.FileChange, 0, len(files))
	for _, f := range files {
		got = append(got, call.FileChange{Path: f.Path, From: f.From, Kind: f.Kind, Mode: f.Mode})
	}
	byPath := func(a, b call.FileChange) int { return cmp.Compare(a.Path, b.Path) }
	slices.SortFunc(want, byPath)
	slices.SortFunc(got, byPath)
	if len(want) != len(got) {
		return fmt.Errorf("the list of files has %d files, and the patch %d", len(got), len(want))
	}
	for i, f := range want {
		if f != got[i] {
			return fmt.Errorf("the list of files does not describe the patch: it has %q, the patch %q", got[i].Path, f.Path)
		}
	}
	return nil
}

// setModes takes the modes of files that only have another name from the list of files, because the patch does not have
// them.
func setModes(files []call.FileChange, list []edit) error {
	modes := map[string]string{}
	for _, f := range files {
		modes[f.Path] = f.Mode
	}
	for _, e := range list {
		if s := e.write; s != nil && s.toMode == "" {
			s.toMode = modes[pathText(s.to)]
			if s.fromMode = s.toMode; !known(s.toMode) {
				return fmt.Errorf("the mode %q is unknown", s.toMode)
			}
		}
	}
	return nil
}

func known(mode string) bool { return mode == modeFile || mode == modeProgram || mode == modeLink }

func (e edit) describe() call.FileChange {
	switch {
	case e.write == nil:
		return call.FileChange{Path: pathText(e.remove.from), Kind: call.ChangeDeleted, Mode: e.remove.fromMode}
	case e.remove == nil:
		return call.FileChange{Path: pathText(e.write.to), Kind: call.ChangeAdded, Mode: e.write.toMode}
	}
	f := call.FileChange{Path: pathText(e.write.to), Kind: call.ChangeModified, Mode: e.write.toMode}
	if e.remove.from != e.write.to {
		f.Kind, f.From = call.ChangeRenamed, pathText(e.remove.from)
	}
	return f
}
