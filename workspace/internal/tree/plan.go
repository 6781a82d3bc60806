package tree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// plan has everything that is needed to change a directory. It uses os.Root, so that no path leaves the directory even
// if another process replaces a part of the path by a symbolic link.
type plan struct {
	root      *os.Root
	targets   []target
	removed   map[string]bool // the paths that are removed or replaced
	emptied   []string        // the directories in the place of new files, parents first
	conflicts []Conflict
}

// target is an edit with the state of the directory before it, and the new file.
type target struct {
	edit
	before  fs.FileInfo // of the removed file
	content []byte      // of the new file, or the target of a new link
	perm    fs.FileMode
}

func newPlan(root *os.Root, list []edit) *plan {
	p := &plan{root: root, removed: map[string]bool{}}
	for _, e := range list {
		p.targets = append(p.targets, target{edit: e})
		if e.remove != nil {
			p.removed[e.from()] = true
		}
	}
	return p
}

// prepare reads the directory, computes the new contents, and collects the conflicts.
func (p *plan) prepare(ctx context.Context) error {
	for i := range p.targets {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.prepareTarget(&p.targets[i]); err != nil {
			var refused *ConflictError
			if !errors.As(err, &refused) {
				return fmt.Errorf("workspace: apply the changes: %w", err)
			}
			p.conflicts = append(p.conflicts, refused.Conflicts...)
		}
	}
	return nil
}

func (p *plan) prepareTarget(t *target) error {
	var old []byte
	if t.remove != nil {
		var err error
		if old, err = p.read(t); err != nil {
			return err
		}
	}
	if t.write == nil || t.remove != nil && t.remove != t.write {
		// A deleted file, or the old file of a changed type, must have the expected content.
		if err := contentError(t.from(), errOf(t.remove.content(old))); err != nil {
			return err
		}
		old = nil
	}
	if t.write == nil {
		return nil
	}
	var err error
	if t.content, err = t.write.content(old); err != nil {
		return contentError(cmp.Or(t.from(), t.to()), err)
	}
	if t.write.link() && (len(t.content) == 0 || strings.IndexByte(string(t.content), 0) >= 0) {
		return fmt.Errorf("%q: the target of the symbolic link is not valid", t.to())
	}
	t.perm = t.permissions()
	return p.free(t)
}

func errOf(_ []byte, err error) error { return err }

func contentError(name string, err error) error {
	if errors.Is(err, errChanged) {
		return conflict(name, "has changed in the same places")
	}
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	return nil
}

// link reports whether the new file is a symbolic link.
func (s *section) link() bool {
	return s.toMode == modeLink
}

// permissions returns the permissions of the new file: those of the old one, with the change of the patch.
func (t *target) permissions() fs.FileMode {
	if t.remove == nil || t.before.Mode()&fs.ModeSymlink != 0 {
		if t.write.toMode == modeProgram {
			return 0o777 // the umask of the process applies
		}
		return 0o666
	}
	perm := t.before.Mode().Perm()
	switch {
	case t.remove.fromMode == t.write.toMode:
	case t.write.toMode == modeProgram:
		perm |= perm & 0o444 >> 2
	default:
		perm &^= 0o111
	}
	return perm
}

// read reads the file that a target removes or replaces.
func (p *plan) read(t *target) ([]byte, error) {
	name := t.from()
	for parent := range parents(name) {
		info, err := p.root.Lstat(parent)
		switch {
		case missing(err):
			return nil, conflict(name, "is missing")
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, conflict(name, fmt.Sprintf("is below the %s %q", kindOf(info.Mode()), parent))
		}
	}
	info, err := p.root.Lstat(name)
	if missing(err) {
		return nil, conflict(name, "is missing")
	} else if err != nil {
		return nil, err
	}
	t.before = info
	isLink := info.Mode()&fs.ModeSymlink != 0
	wrong := !isLink && !info.Mode().IsRegular() || isLink != (t.remove.fromMode == modeLink)
	if wrong {
		return nil, conflict(name, "is now a "+kindOf(info.Mode()))
	}
	if isLink {
		link, err := p.root.Readlink(name)
		return []byte(link), err
	}
	file, err := p.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if now, err := file.Stat(); err != nil || !sameFile(info, now) {
		return nil, conflict(name, "changed during the call")
	}
	return io.ReadAll(file)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// sameFile reports whether two values describe the same, unchanged file.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// free checks that nothing is in the way of a new file.
func (p *plan) free(t *target) error {
	name := t.to()
	if name == t.from() {
		return nil
	}
	for parent := range parents(name) {
		if p.removed[parent] {
			return nil // a file that becomes a directory
		}
		info, err := p.root.Lstat(parent)
		switch {
		case missing(err):
			return nil
		case err != nil:
			return err
		case !info.IsDir():
			return conflict(name, fmt.Sprintf("is below the %s %q", kindOf(info.Mode()), parent))
		}
	}
	info, err := p.root.Lstat(name)
	switch {
	case missing(err) || p.removed[name]:
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return p.emptyDir(name)
	case t.before != nil && strings.EqualFold(t.from(), name) && os.SameFile(info, t.before):
		return nil // another spelling in a directory that ignores case
	}
	return conflict(name, "exists")
}

// emptyDir checks that a directory in the place of a new file has only files that are removed.
func (p *plan) emptyDir(name string) error {
	p.emptied = append(p.emptied, name)
	dir, err := p.root.Open(name)
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		child := path.Join(name, entry.Name())
		if entry.IsDir() {
			if err := p.emptyDir(child); err != nil {
				return err
			}
		} else if !p.removed[child] {
			return conflict(name, fmt.Sprintf("is a directory with %q", child))
		}
	}
	return nil
}
