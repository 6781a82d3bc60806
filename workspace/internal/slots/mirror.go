package slots

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// wanted is a file or directory that a copy must contain.
type wanted struct {
	path    string // relative, with slashes
	dir     bool
	carried bool
	from    string // the directory that contains path, if it is not mirror.from
}

// mirror makes a directory contain exactly the wanted files of another one.
type mirror struct {
	from, to string
	wanted   []wanted // without duplicates
	old      manifest
	copier   *copier // for all files that are not carried
	carrier  *copier
	// keep are the names of entries of the copy's top directory that stay as they are.
	keep []string

	files map[string]int // index in wanted
	dirs  map[string]bool
	known map[string]int // index in old.entries

	kept     []atomic.Bool // by the index in wanted: the copy has the file as the manifest describes it
	mu       sync.Mutex
	existing map[string]bool // directories of the copy
	skipped  []string        // messages about files that cannot be copied
}

// run makes the copy and returns its files in the order of wanted. It leaves out files that are missing in the
// original.
func (m *mirror) run(ctx context.Context) ([]entry, error) {
	m.index()
	if err := m.clean(ctx); err != nil {
		return nil, err
	}
	for _, dir := range slices.Sorted(maps.Keys(m.dirs)) {
		if !m.existing[dir] {
			if err := os.Mkdir(m.at(dir), 0o777); err != nil {
				return nil, err
			}
		}
	}
	entries := make([]entry, len(m.wanted))
	err := parallel(ctx, len(m.wanted), func(i int) error {
		if m.wanted[i].dir {
			return nil
		}
		e, err := m.refresh(i)
		entries[i] = e
		return err
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(entries, func(e entry) bool { return e.path == "" }), nil
}

func (m *mirror) at(rel string) string { return filepath.Join(m.to, filepath.FromSlash(rel)) }

func (m *mirror) index() {
	m.files, m.dirs = make(map[string]int, len(m.wanted)), map[string]bool{}
	m.known, m.existing = make(map[string]int, len(m.old.entries)), map[string]bool{}
	m.kept = make([]atomic.Bool, len(m.wanted))
	for i, w := range m.wanted {
		dir := w.path
		if !w.dir {
			m.files[w.path] = i
			dir = path.Dir(dir)
		}
		for ; dir != "." && !m.dirs[dir]; dir = path.Dir(dir) {
			m.dirs[dir] = true
		}
	}
	for i, e := range m.old.entries {
		m.known[e.path] = i
	}
	for name := range m.dirs {
		if i, ok := m.files[name]; ok { // git tracks a file that has become a directory
			delete(m.files, name)
			m.wanted[i].dir = true
		}
	}
}

// refresh makes the copy of one wanted file current.
func (m *mirror) refresh(i int) (entry, error) {
	w := m.wanted[i]
	from, to := filepath.Join(cmp.Or(w.from, m.from), filepath.FromSlash(w.path)), m.at(w.path)
	src, err := lstat(from)
	if err != nil || src.kind() != kindFile && src.kind() != kindLink {
		return entry{}, m.leaveOut(i, err)
	}
	if m.kept[i].Load() {
		if e := m.old.entries[m.known[w.path]]; e.src == src && e.carried == w.carried {
			return e, nil
		}
		if err := removeFile(to); err != nil {
			return entry{}, err
		}
	}
	c := m.copier
	if w.carried {
		c = m.carrier
	}
	e, err := c.copy(from, to, src)
	if err != nil {
		return entry{}, m.leaveOut(i, err)
	}
	e.path, e.carried = w.path, w.carried
	return e, nil
}

// leaveOut handles an error of a file of the original. A missing file is no error, and one that this user may not read
// is left out with a message.
func (m *mirror) leaveOut(i int, err error) error {
	name := m.wanted[i].path
	failed := (*fs.PathError)(nil)
	inOriginal := errors.As(err, &failed) && !within(failed.Path, m.to)
	switch {
	case err == nil, errors.Is(err, errKind), inOriginal && errors.Is(err, fs.ErrNotExist),
		errors.Is(err, syscall.ENOTDIR):
	case inOriginal && errors.Is(err, fs.ErrPermission):
		m.mu.Lock()
		defer m.mu.Unlock()
		m.skipped = append(m.skipped, fmt.Sprintf("the copy does not contain %q, because this user may not read it", name))
	default:
		return err
	}
	return os.RemoveAll(m.at(name))
}

// clean removes everything in the copy that is not a wanted file in the state of the manifest.
func (m *mirror) clean(ctx context.Context) error {
	if err := ownDir(m.to); err != nil {
		return err
	}
	limit := make(chan struct{}, workers())
	var all sync.WaitGroup
	var failed firstError
	var visit func(rel string)
	visit = func(rel string) {
		subs, err := m.cleanDir(rel)
		failed.set(err)
		for _, sub := range subs {
			if failed.get() != nil || ctx.Err() != nil {
				return
			}
			select {
			case limit <- struct{}{}:
				all.Go(func() { defer func() { <-limit }(); visit(sub) })
			default:
				visit(sub)
			}
		}
	}
	visit(".")
	all.Wait()
	return errors.Join(failed.get(), context.Cause(ctx))
}

// cleanDir removes entries of one directory of the copy, and returns its directories that stay.
func (m *mirror) cleanDir(rel string) (subs []string, err error) {
	names, err := readNames(m.at(rel))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if rel == "." && slices.Contains(m.keep, name) {
			continue
		}
		name = path.Join(rel, name)
		at := m.at(name)
		s, err := lstat(at)
		if err != nil {
			return nil, err
		}
		i, isFile := m.files[name]
		switch {
		case m.dirs[name] && s.kind() == kindDir:
			if s.mode&0o700 != 0o700 {
				if err := os.Chmod(at, os.FileMode(s.mode&0o777|0o700)); err != nil {
					return nil, err
				}
			}
			subs = append(subs, name)
		case isFile && m.unchanged(name, s):
			m.kept[i].Store(true)
		default:
			if err := removeAll(at); err != nil {
				return nil, err
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, sub := range subs {
		m.existing[sub] = true
	}
	return subs, nil
}

// unchanged reports whether a file of the copy is as the manifest describes it, and has no other name.
func (m *mirror) unchanged(name string, s stamp) bool {
	i, ok := m.known[name]
	return ok && stampsProve && s == m.old.entries[i].dst && s.ctime < m.old.written && s.links == 1
}

// ownDir makes path a directory that only this user may enter. It replaces anything else at path.
func ownDir(path string) error {
	s, err := lstat(path)
	if err == nil && s.kind() == kindDir {
		return os.Chmod(path, 0o700)
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Mkdir(path, 0o700)
}

// readNames returns the names of the entries of a directory.
func readNames(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// removeAll is os.RemoveAll for directories without permissions.
func removeAll(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && err == nil {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

func within(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}
