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

// emptyDirs is the name of the directory that contains all empty directories.
const emptyDirs = "empty"

// EmptyDir returns the path of the empty directory with that name in the state directory. It creates nothing;
// [KeepEmpty] creates the directory.
func EmptyDir(name string) (string, error) { return emptyDir(name, statePath) }

func emptyDir(name string, stateDir func() (string, error)) (string, error) {
	state, err := stateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(state, emptyDirs, name), nil
}

// MakeEmptyDir creates the empty directory with that name, as [KeepEmpty] does, and returns its path. If it
// cannot be created in the state directory, because the home is missing, read-only or full, MakeEmptyDir
// creates it below a directory of this user in the temporary directory. Then lasting is false: a later call may
// get another directory. A state directory that [OwnDir] refuses is an error.
func MakeEmptyDir(name string, guards []string) (dir string, lasting bool, err error) {
	dir, err = emptyDir(name, StateDir)
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

// FirstEmptyDir returns the path that [MakeEmptyDir] tries first. It creates nothing.
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

// tempEmptyDir returns the path of the empty directory below this user's directory in the temporary directory.
func tempEmptyDir(name string) (string, error) {
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err == nil && !keepsEntries(temp) {
		err = refuse("other users may replace files in %s: set TMPDIR to another directory", temp)
	}
	return filepath.Join(temp, fmt.Sprintf("clichain-%d", os.Geteuid()), emptyDirs, name), err
}

// KeepEmpty creates the directory dir, a path from [EmptyDir] or [MakeEmptyDir], if it is missing. It removes
// everything in it except the guards, which are empty files named by slash-separated relative paths. It refuses
// a directory that [OwnDir] refuses, because the target of a symbolic link may contain files of other programs.
// It removes links inside the directory and never follows them.
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

// openEmpty creates and opens the empty directory, and the directories of clichain above it.
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

// empty removes the entries of a directory, except guards and the directories that contain them.
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

// makeGuard creates an empty file. It keeps a file that another call has just created.
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
