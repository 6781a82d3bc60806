package slots

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clichain/clichain/workspace/internal/git"
)

// staged is one entry of the index of the original.
type staged struct {
	path    string
	mode    uint32
	object  string // the name of the blob as bytes
	stage   int
	assume  bool // assume unchanged
	skip    bool // skip the work tree
	changed bool // the file differs from the entry
	intent  bool // the file is only intended to be added
}

// listing is the content of the original.
type listing struct {
	wanted   []wanted
	index    []staged
	warnings []string
}

// list returns the files of the original. own is clichain's git directory.
func (o original) list(ctx context.Context, own git.Repo) (l listing, err error) {
	if o.repo == nil {
		err = o.listTree(ctx, &l)
	} else {
		err = o.listRepository(ctx, own, &l)
	}
	if err == nil {
		err = o.listCarried(ctx, &l)
	}
	if err == nil {
		err = o.notIgnored(l)
	}
	return l, err
}

// notIgnored returns an error if the copy of Dir would be empty because git ignores all its files. Git would also
// ignore the work of an agent there.
func (o original) notIgnored(l listing) error {
	names, err := readNames(filepath.Join(o.top, o.rel))
	below := filepath.ToSlash(o.rel) + "/"
	in := func(w wanted) bool { return strings.HasPrefix(w.path, below) }
	if err != nil || len(names) == 0 || o.rel == "." || slices.ContainsFunc(l.wanted, in) {
		return nil
	}
	return fmt.Errorf("workspace: the repository ignores all files of %s: run \"git init\" there, "+
		"or use another directory", filepath.Join(o.top, o.rel))
}

func (o original) listRepository(ctx context.Context, own git.Repo, l *listing) error {
	var status, index []byte
	var failed, failedStatus error
	var both sync.WaitGroup
	both.Go(func() { index, failed = o.repo.Ask(ctx, nil, "ls-files", "--stage", "-v", "-z") })
	both.Go(func() { status, failedStatus = o.repo.Status(ctx, own) })
	both.Wait()
	if err := errors.Join(failed, failedStatus); err != nil {
		return err
	}
	changed, intended, untracked := parseStatus(status)
	if err := o.settle(ctx, changed); err != nil {
		return err
	}
	real := map[string]bool{}
	for record := range records(index) {
		e, err := parseStaged(record)
		if err != nil {
			return err
		}
		if e.mode == 0o160000 {
			return fmt.Errorf("workspace: the repository has the submodule %q, which is not supported: "+
				"use a directory without submodules", e.path)
		}
		e.changed, e.intent = changed[e.path], intended[e.path]
		l.index = append(l.index, e)
		if n := len(l.wanted); n > 0 && l.wanted[n-1].path == e.path {
			continue // another stage of a conflict
		}
		if realDirs(o.top, filepath.FromSlash(path.Dir(e.path)), real) {
			l.wanted = append(l.wanted, wanted{path: e.path})
		}
	}
	size := int64(0)
	for _, path := range untracked {
		if o.carried(path) {
			return fmt.Errorf(
				"workspace: carry %q: a .gitignore includes it again: remove the pattern that begins with \"!\"", path)
		}
		if strings.HasSuffix(path, "/") {
			l.warnings = append(l.warnings, fmt.Sprintf("the copy does not contain the repository %q: carry it if needed", path))
			continue
		}
		l.wanted = append(l.wanted, wanted{path: path})
		s, err := lstat(filepath.Join(o.top, filepath.FromSlash(path)))
		if err == nil {
			size += int64(s.size)
		}
	}
	return o.limits(size, len(untracked))
}

// limits returns an error for too many files that git does not track.
func (o original) limits(size int64, count int) error {
	advice := "use a smaller directory"
	if o.repo != nil {
		advice = "add files to .gitignore"
	}
	switch {
	case size > o.MaxBytes:
		return fmt.Errorf("workspace: the files of %s that git does not track have more than %d bytes (MaxBytes): "+
			"%s, or raise the limit", o.top, o.MaxBytes, advice)
	case count > maxFiles:
		return fmt.Errorf("workspace: git does not track more than %d files of %s: %s", maxFiles, o.top, advice)
	}
	return nil
}

// parseStaged parses a record of "git ls-files --stage -v": tag, mode, object, stage, and after a tab the path.
func parseStaged(record string) (e staged, err error) {
	head, name, ok := strings.Cut(record, "\t")
	fields := strings.Fields(head)
	if !ok || len(fields) != 4 {
		return e, fmt.Errorf("workspace: unexpected output of git ls-files: %q", record)
	}
	mode, err := strconv.ParseUint(fields[1], 8, 32)
	object, failed := hex.DecodeString(fields[2])
	stage, invalid := strconv.Atoi(fields[3])
	tag := fields[0]
	e = staged{
		path: name, mode: uint32(mode), object: string(object), stage: stage,
		assume: tag != strings.ToUpper(tag), skip: strings.EqualFold(tag, "s"),
	}
	return e, errors.Join(err, failed, invalid)
}

// parseStatus parses the output of "git status --porcelain=v2 -z".
func parseStatus(out []byte) (changed, intended map[string]bool, untracked []string) {
	changed, intended = map[string]bool{}, map[string]bool{}
	for record := range records(out) {
		fields := 0
		switch record[0] {
		case '?':
			untracked = append(untracked, record[2:])
			continue
		case '1':
			fields = 9
		case 'u':
			fields = 11
		default:
			continue
		}
		parts := strings.SplitN(record, " ", fields)
		if len(parts) < fields {
			continue
		}
		name, xy := parts[fields-1], parts[1]
		changed[name] = changed[name] || !strings.HasSuffix(xy, ".")
		intended[name] = xy == ".A"
	}
	return changed, intended, untracked
}

// records returns the parts of an output that end with a zero byte.
func records(out []byte) func(yield func(string) bool) {
	text := string(bytes.TrimSuffix(out, []byte{0}))
	return func(yield func(string) bool) {
		for text != "" {
			var record string
			record, text, _ = strings.Cut(text, "\x00")
			if record != "" && !yield(record) {
				return
			}
		}
	}
}

// listTree lists a directory outside git. Repositories in it are copied without their ".git".
func (o original) listTree(ctx context.Context, l *listing) error {
	size, count := int64(0), 0
	return o.walk(ctx, ".", func(rel string, s stamp) error {
		if strings.EqualFold(path.Base(rel), ".git") {
			l.warnings = append(l.warnings, fmt.Sprintf("the copy does not contain %q", rel))
			return fs.SkipDir
		}
		if o.carried(rel) {
			return fs.SkipDir
		}
		size, count = size+int64(s.size), count+1
		l.wanted = append(l.wanted, wanted{path: rel, dir: s.kind() == kindDir})
		return o.limits(size, count)
	}, l)
}

// listCarried adds the carried files that git does not track.
func (o original) listCarried(ctx context.Context, l *listing) error {
	if len(o.carry) == 0 {
		return nil
	}
	l.wanted = slices.DeleteFunc(l.wanted, func(w wanted) bool { return o.carried(w.path) && !l.tracks(w.path) })
	for i, carry := range o.carry {
		if i > 0 && o.below(i) {
			continue
		}
		err := o.walk(ctx, carry, func(rel string, s stamp) error {
			if s.kind() == kindDir || !l.tracks(rel) {
				l.wanted = append(l.wanted, wanted{path: rel, dir: s.kind() == kindDir, carried: true})
			}
			return nil
		}, l)
		if err != nil {
			return err
		}
	}
	return nil
}

// below reports whether a carried path is in one before it.
func (o original) below(i int) bool {
	return slices.ContainsFunc(o.carry[:i], func(carry string) bool { return strings.HasPrefix(o.carry[i], carry+"/") })
}

// tracks reports whether git tracks a file. The index is sorted by path.
func (l *listing) tracks(path string) bool {
	byPath := func(e staged, path string) int { return strings.Compare(e.path, path) }
	_, found := slices.BinarySearchFunc(l.index, path, byPath)
	return found
}

// walk calls visit for each file, symbolic link and directory below a path of the original, and for the path itself,
// unless that is ".". It leaves out other kinds of files, and directories that this user may not read.
func (o original) walk(ctx context.Context, rel string, visit func(rel string, s stamp) error, l *listing) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	at := filepath.Join(o.top, filepath.FromSlash(rel))
	s, err := lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && s.kind() != kindFile && s.kind() != kindLink && s.kind() != kindDir {
		return nil
	}
	if err == nil && rel != "." {
		err = visit(rel, s)
	}
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	if err != nil || s.kind() != kindDir {
		return err
	}
	names, err := readNames(at)
	if errors.Is(err, fs.ErrPermission) {
		l.warnings = append(l.warnings,
			fmt.Sprintf("the copy does not contain the files of %q, because this user may not read it", rel))
		return nil
	}
	slices.Sort(names)
	for _, name := range names {
		if err = errors.Join(err, o.walk(ctx, path.Join(rel, name), visit, l)); err != nil {
			return err
		}
	}
	return err
}
