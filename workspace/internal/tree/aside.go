package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// aside moves entries out of a directory that git must not see, and back. A nested .git makes git record a submodule
// instead of files. A FIFO that is named .gitignore or .gitattributes blocks git, and a special file in the place of a
// recorded file makes git fail.
type aside struct {
	files, git string
	leave      []string // further paths to move
	dir        string   // the directory inside git that has the entries; empty as long as there is none
	moved      []string
}

func (a *aside) collect(ctx context.Context, under string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	dir, err := os.Open(filepath.Join(a.files, under))
	if err != nil {
		return nil // git reports it, unless the directory is ignored
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close()
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		path := filepath.Join(under, entry.Name())
		switch {
		case under == "" && entry.Name() == ".git":
		case strings.EqualFold(entry.Name(), ".git") || special(entry.Type()) ||
			slices.Contains(a.leave, filepath.ToSlash(path)):
			if err := a.move(path); err != nil {
				return fmt.Errorf("workspace: move %s out of the way: %w", path, err)
			}
		case entry.IsDir():
			if err := a.collect(ctx, path); err != nil {
				return err
			}
		}
	}
	return nil
}

func special(mode fs.FileMode) bool { return mode&fs.ModeType&^(fs.ModeDir|fs.ModeSymlink) != 0 }

func (a *aside) move(path string) (err error) {
	if a.dir == "" {
		if a.dir, err = os.MkdirTemp(a.git, "aside-"); err != nil {
			return err
		}
	}
	if err := a.rename(filepath.Join(a.files, path), a.place(len(a.moved)), filepath.Dir(path)); err != nil {
		return err
	}
	a.moved = append(a.moved, path)
	return nil
}

func (a *aside) place(i int) string { return filepath.Join(a.dir, strconv.Itoa(i)) }

// rename moves an entry into or out of the directory parent, even if that is not writable.
func (a *aside) rename(from, to, parent string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if entry, failed := os.Lstat(from); failed == nil && entry.IsDir() {
		_ = os.Chmod(from, entry.Mode().Perm()|0o700) // the rename changes the entry ".." of a directory
		if err = os.Rename(from, to); err == nil {
			return nil
		}
	}
	parent = filepath.Join(a.files, parent)
	info, statErr := os.Lstat(parent)
	if statErr != nil || !info.IsDir() || os.Chmod(parent, info.Mode().Perm()|0o700) != nil {
		return err
	}
	err = os.Rename(from, to)
	return errors.Join(err, os.Chmod(parent, info.Mode().Perm()))
}

// restore moves all entries back.
func (a *aside) restore() error {
	var failed error
	for i, path := range a.moved {
		if err := a.rename(a.place(i), filepath.Join(a.files, path), filepath.Dir(path)); err != nil {
			failed = errors.Join(failed, fmt.Errorf("workspace: move %s back: %w", path, err))
		}
	}
	if a.dir != "" && failed == nil {
		failed = os.Remove(a.dir)
	}
	return failed
}

// kindOf names the type of a file.
func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "regular file"
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symbolic link"
	case fs.ModeNamedPipe:
		return "FIFO"
	case fs.ModeSocket:
		return "socket"
	default:
		return "special file"
	}
}
