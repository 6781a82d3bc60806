package slots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/workspace/internal/git"
)

// Source is a directory to copy.
type Source struct {
	// Dir is the directory. If it is in a git repository, the whole work tree is copied.
	Dir string
	// Carry are paths of ignored files and directories to copy too, relative to Dir. They are no part of Slot.Base, and
	// the .gitignore of the copy excludes them from snapshots, unless git tracks them.
	Carry []string
	// Share lets the repository of the copy read the objects of the original, instead of copies of them. An agent that
	// can write the files of the original must not get it.
	Share bool
	// Identities are names of files in git's directory by which CLIs identify a project. The copy gets its own.
	Identities []string
	// MaxBytes limits the size of the files that git does not track, without carried files. 0 means 1 GiB.
	MaxBytes int64
}

const (
	defaultMaxBytes = 1 << 30
	maxFiles        = 200_000 // that git does not track
)

// original is the directory that a slot copies.
type original struct {
	Source
	top   string        // the real path of the directory to copy
	rel   string        // Dir relative to top
	repo  *git.Original // nil outside git
	carry []string      // relative to top, with slashes
}

// inspect finds the directory to copy, and refuses directories that must not be copied.
func inspect(ctx context.Context, root string, src Source) (o original, err error) {
	o = original{Source: src, rel: "."}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	dir, err := filepath.Abs(src.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return o, fmt.Errorf("workspace: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return o, fmt.Errorf("workspace: %s is not a directory", dir)
	}
	o.top = dir
	repo, err := git.Find(ctx, dir)
	switch {
	case err == nil:
		if o.top, err = filepath.EvalSymlinks(repo.Top); err == nil {
			o.rel, err = filepath.Rel(o.top, dir)
		}
		o.repo = &repo
	case errors.Is(err, git.ErrNoRepository):
		err = notBroken(dir)
	}
	if err == nil {
		err = o.permitted(root)
	}
	if err == nil {
		err = o.findCarried()
	}
	return o, err
}

// notBroken returns an error for a directory that git does not accept, but which belongs to a repository.
func notBroken(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		if filepath.Base(at) == ".git" || exists(at, "HEAD") && exists(at, "objects") && exists(at, "refs") {
			return fmt.Errorf("workspace: %s belongs to a bare repository or to git's own files: use a work tree", dir)
		}
		if exists(at, ".git") {
			return fmt.Errorf("workspace: git does not accept the repository %s: run \"git status\" there", at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// permitted refuses the root directory, the home directory, and directories that contain it or the slots.
func (o original) permitted(root string) error {
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	switch {
	case o.top == filepath.Dir(o.top), err == nil && within(home, o.top):
		if o.repo != nil {
			return fmt.Errorf("workspace: the work tree of the repository is %s, which is too large to copy: "+
				"run \"git init\" in %s", o.top, filepath.Join(o.top, o.rel))
		}
		return fmt.Errorf("workspace: %s is too large to copy: use a directory of one project", o.top)
	case within(root, o.top):
		return fmt.Errorf("workspace: %s contains the copies themselves (%s): use another directory", o.top, root)
	}
	return nil
}

// findCarried checks Carry.
func (o *original) findCarried() error {
	for _, name := range o.Carry {
		refuse := func(why string) error { return fmt.Errorf("workspace: carry %q: %s", name, why) }
		rel := filepath.ToSlash(filepath.Join(o.rel, name))
		first, _, _ := strings.Cut(rel, "/")
		switch local := filepath.Clean(name); {
		case filepath.IsAbs(name) || !filepath.IsLocal(name) || local == ".":
			return refuse("must be a path inside the directory")
		case strings.EqualFold(first, ".git"):
			return refuse("the copy gets its own .git")
		case strings.ContainsAny(name, "\n\r"):
			return refuse("a carried path must not have a line break")
		case !realDirs(o.top, filepath.Dir(rel), map[string]bool{}):
			return refuse("does not exist in " + filepath.Join(o.top, o.rel) + ", or is behind a symbolic link")
		case !exists(o.top, rel):
			return refuse("does not exist in " + filepath.Join(o.top, o.rel) + ": create it, or do not carry it")
		}
		o.carry = append(o.carry, rel)
	}
	slices.Sort(o.carry)
	o.carry = slices.Compact(o.carry)
	return nil
}

// carried reports whether a path is carried or in a carried directory.
func (o original) carried(path string) bool {
	return slices.ContainsFunc(o.carry, func(carry string) bool {
		rest, ok := strings.CutPrefix(path, carry)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// partial reports whether the original is a partial clone. Such a repository has packs that another one promised to
// complete.
func (o original) partial() bool {
	if o.repo == nil {
		return false
	}
	names, _ := readNames(filepath.Join(o.repo.Objects, "pack"))
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, ".promisor") })
}

// untrackedCarry returns the carried paths in which git tracks no file.
func (o original) untrackedCarry(l listing) (paths []string) {
	for _, path := range o.carry {
		within := func(e staged) bool { return e.path == path || strings.HasPrefix(e.path, path+"/") }
		if !slices.ContainsFunc(l.index, within) {
			paths = append(paths, path)
		}
	}
	return paths
}

// excludes returns Carry as patterns of git.
func (o original) excludes() (patterns []byte) {
	escape := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `, "\t", "\\\t")
	for _, path := range o.carry {
		patterns = append(patterns, "/"+escape.Replace(path)+"\n"...)
	}
	return patterns
}

// realDirs reports whether dir, relative to top, and the directories above it are directories and no links. known keeps
// the results.
func realDirs(top, dir string, known map[string]bool) bool {
	if dir == "." {
		return true
	}
	real, ok := known[dir]
	if !ok {
		s, err := lstat(filepath.Join(top, dir))
		real = err == nil && s.kind() == kindDir && realDirs(top, filepath.Dir(dir), known)
		known[dir] = real
	}
	return real
}
