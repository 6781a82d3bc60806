package localfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// emptyDirs is the folder of all empty folders.
const emptyDirs = "empty"

// EmptyDir returns the path of the empty folder with that name in the state
// directory, which [KeepEmpty] makes.
func EmptyDir(name string) (string, error) {
	state, err := StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(state, emptyDirs, name), nil
}

// MakeEmptyDir makes the empty folder with that name, as [KeepEmpty] does, and returns
// its path. Where the state directory cannot hold it, because the home is missing,
// read-only or full, the folder is below a directory of this user in the temporary
// directory. Then lasting is false: a later call may find another folder, or none. A
// state directory that [OwnDir] refuses is an error.
func MakeEmptyDir(name string, guards []string) (dir string, lasting bool, err error) {
	dir, err = EmptyDir(name)
	if err == nil {
		err = KeepEmpty(dir, guards)
	}
	if _, refused := errors.AsType[refusedError](err); err == nil || refused {
		return dir, true, err
	}
	dir, failed := tempEmptyDir(name)
	if failed == nil {
		failed = KeepEmpty(dir, guards)
	}
	if failed != nil {
		return "", false, fmt.Errorf("%w; %w", err, failed)
	}
	return dir, false, nil
}

// FirstEmptyDir returns the path that [MakeEmptyDir] tries first. It makes nothing.
func FirstEmptyDir(name string) (string, error) {
	dir, err := EmptyDir(name)
	if err == nil {
		return dir, nil
	}
	dir, failed := tempEmptyDir(name)
	if failed != nil {
		return "", fmt.Errorf("%w; %w", err, failed)
	}
	return dir, nil
}

// tempEmptyDir is the path of the empty folder below the directory of this user in the temporary directory.
func tempEmptyDir(name string) (string, error) {
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err == nil && !keepsEntries(temp) {
		err = refuse("other users may replace files in %s: set TMPDIR to another directory", temp)
	}
	return filepath.Join(temp, fmt.Sprintf("clichain-%d", os.Geteuid()), emptyDirs, name), err
}

// KeepEmpty makes the folder at dir, a path from [EmptyDir] or [MakeEmptyDir], if need be, and
// removes everything in it but the guards, which are empty files, named by paths
// below it with slashes. [OwnDir] says what it
// refuses: what a link in its place leads to is not ours to remove; links in it are
// removed, never followed.
func KeepEmpty(dir string, guards []string) error {
	root, err := openEmpty(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := empty(root, ".", guards); err != nil {
		return err
	}
	for _, guard := range guards {
		if err := makeGuard(root, guard); err != nil {
			return err
		}
	}
	return nil
}

// openEmpty creates and opens the empty folder, and those of clichain above it.
func openEmpty(dir string) (*os.Root, error) {
	all := filepath.Dir(dir)
	state, err := OwnDir(filepath.Dir(all))
	if err != nil {
		return nil, err
	}
	defer state.Close()
	parent, err := ownBelow(state, filepath.Base(all))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return ownBelow(parent, filepath.Base(dir))
}

// empty removes what is in a folder, except guards and the folders they are in.
func empty(root *os.Root, folder string, guards []string) error {
	entries, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		leads := func(guard string) bool { return strings.HasPrefix(guard, name+"/") }
		switch {
		case entry.IsDir() && slices.ContainsFunc(guards, leads):
			err = empty(root, name, guards)
		case !slices.Contains(guards, name) || !isEmptyFile(entry):
			err = root.RemoveAll(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isEmptyFile(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// makeGuard makes an empty file. One that another call has just made stays.
func makeGuard(root *os.Root, guard string) error {
	if err := root.MkdirAll(path.Dir(guard), 0o700); err != nil {
		return err
	}
	file, err := root.OpenFile(guard, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}
