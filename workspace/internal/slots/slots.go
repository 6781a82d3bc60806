package slots

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/workspace/internal/git"
)

// Slot is a private copy of a directory, which this process has locked.
type Slot struct {
	// Repo is clichain's git directory, which describes the files of Top. Its index has the files of Base.
	Repo git.Repo
	// Dir is the copy of Source.Dir: Top, or a directory in it.
	Dir string
	// Top is the copy of Original, which is the work tree of a repository, or else the directory itself.
	Top, Original string
	// Base is git's name of the tree of all copied files, without carried ones.
	Base string
	// Commit is the commit of the original. Empty: it has none.
	Commit string
	// Warnings lists parts of the original that the copy does not contain.
	Warnings []string

	locked  *locked
	entries []entry
	// repository: the original is in a repository. shared: the copy reads the objects of the original.
	// partial: the original is a partial clone, which lacks objects that git would fetch.
	repository, shared, partial bool
}

// Open copies a directory into a free slot below root, which clichain owns, and locks the slot. If the slot has a copy
// from an earlier use, Open only replaces what differs. The caller must call Close.
func Open(ctx context.Context, root string, src Source) (*Slot, error) {
	o, err := inspect(ctx, root, src)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, root, o)
	if err != nil && ctx.Err() == nil {
		// An agent may have left a state that the checks do not expect. An error of the original occurs again.
		s, err = open(ctx, root, o)
	}
	return s, err
}

// open fills a free slot. After an error, it discards the slot, so that the next one is new.
func open(ctx context.Context, root string, o original) (*Slot, error) {
	l, err := acquire(ctx, root, o.top)
	if err != nil {
		return nil, fmt.Errorf("workspace: lock a slot: %w", err)
	}
	s, err := fill(ctx, l, o)
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() == nil:
		l.discard(ctx)
	default:
		l.release()
	}
	return nil, err
}

// fill makes the copy of a locked slot.
func fill(ctx context.Context, l *locked, o original) (s *Slot, err error) {
	s = &Slot{Original: o.top, Top: l.at(copyName(o.top)), locked: l, repository: o.repo != nil, shared: o.Share}
	s.Dir = filepath.Join(s.Top, o.rel)
	if err := ownDir(s.Top); err != nil {
		return nil, err
	}
	if err := s.initRepo(ctx, o); err != nil {
		return nil, err
	}
	list, err := o.list(ctx, s.Repo)
	if err != nil {
		return nil, err
	}
	m := mirror{
		from: o.top, to: s.Top, wanted: list.wanted, old: readManifest(l.at(manifestName)),
		copier: &copier{sum: newSum(o.repo)}, carrier: &copier{},
	}
	if o.repo != nil {
		m.keep = []string{".git"}
	}
	entries, err := m.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("workspace: copy %s: %w", o.top, err)
	}
	s.entries = entries
	s.Repo.Leave = o.untrackedCarry(list)
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return nil, err
	}
	if err := s.record(ctx, o, list); err != nil {
		return nil, err
	}
	s.Warnings = slices.Concat(list.warnings, m.skipped, o.leaving(entries))
	if s.partial = o.partial(); s.partial {
		s.Warnings = append(s.Warnings, "the repository is a partial clone: git cannot fetch missing objects in the copy")
	}
	return s, nil
}

// record makes the base, the repository of the copy, and the manifest.
func (s *Slot) record(ctx context.Context, o original, l listing) error {
	if err := storeBlobs(ctx, s.Repo, s.entries, l.index); err != nil {
		return err
	}
	if err := writeIndex(s.Repo.Index(), ownIndex(s.entries), newSum(o.repo)()); err != nil {
		return err
	}
	tree, err := s.Repo.Run(ctx, nil, "write-tree")
	if err != nil {
		return err
	}
	s.Base = strings.TrimSpace(string(tree))
	if o.repo != nil {
		s.Commit = o.repo.Commit
		if err := s.makeGitDir(ctx, o, l, s.entries); err != nil {
			return fmt.Errorf("workspace: make the repository of the copy: %w", err)
		}
	}
	return writeManifest(s.locked.at(manifestName), s.entries)
}

// newSum returns the hash of the names of objects.
func newSum(repo *git.Original) func() hash.Hash {
	if repo != nil && repo.Format == "sha256" {
		return sha256.New
	}
	return sha1.New
}

// copyName returns the name of the copy, which is that of the original if possible.
func copyName(top string) string {
	name := filepath.Base(top)
	taken := []string{lockName, usedName, manifestName, objectsName, gitName}
	if slices.Contains(taken, strings.TrimSuffix(name, ".new")) {
		return name + "-copy"
	}
	return name
}

// Limits of the objects that uses of the slot add to clichain's git directory.
const (
	maxObjects     = 20_000
	maxObjectBytes = 4 << 30
)

// initRepo makes clichain's git directory, or checks the one that the slot has.
func (s *Slot) initRepo(ctx context.Context, o original) error {
	dir := s.locked.at(gitName)
	if tooLarge(filepath.Join(dir, "objects")) {
		return errors.New("workspace: the slot has too many objects of earlier uses")
	}
	options := git.Options{Excludes: o.excludes()}
	if o.repo != nil {
		excludes, err := o.repo.Excludes(ctx)
		if err != nil {
			return err
		}
		options.Excludes = append(excludes, options.Excludes...)
		options.Objects, options.Format = []string{o.repo.Objects}, o.repo.Format
	}
	if err := removeAside(dir); err != nil {
		return err
	}
	repo, err := git.Init(ctx, dir, s.Top, options)
	s.Repo = repo
	return err
}

// removeAside removes directories and locks that a killed process has left in clichain's git directory.
func removeAside(dir string) error {
	names, err := readNames(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		if strings.HasPrefix(name, "aside-") || strings.HasSuffix(name, ".lock") {
			err = errors.Join(err, removeAll(filepath.Join(dir, name)))
		}
	}
	return err
}

func tooLarge(dir string) bool {
	count, size := 0, int64(0)
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			count, size = count+1, size+info.Size()
		}
		return nil
	})
	return count > maxObjects || size > maxObjectBytes
}

// Verify returns an error if objects of the base are missing, such as after "git prune" in the original. Call it after
// the agent's work: without these objects, the agent and the difference may be wrong.
func (s *Slot) Verify(ctx context.Context) error {
	names := []string{s.Base}
	if s.Commit != "" && s.shared && !s.partial {
		names = append(names, s.Commit+"^{tree}")
	}
	_, err := s.Repo.Run(ctx, nil, append([]string{"rev-list", "--objects", "--quiet"}, names...)...)
	if err != nil {
		return fmt.Errorf("workspace: objects of %s were removed during the work: do not run \"git gc\" or "+
			"\"git prune\" there meanwhile: %w", s.Original, err)
	}
	return nil
}

// Close removes what the agent has added and changed, and unlocks the slot. A file that it could not remove is left to
// the next Open.
func (s *Slot) Close() error {
	defer s.locked.release()
	m := mirror{to: s.Top, old: readManifest(s.locked.at(manifestName))}
	for _, e := range s.entries {
		m.wanted = append(m.wanted, wanted{path: e.path})
	}
	if s.repository {
		m.keep = []string{".git"}
	}
	m.index()
	return m.clean(context.Background())
}
