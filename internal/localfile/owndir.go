package localfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CacheDir returns the directory for this user's data that can be generated again, and creates it if it is
// missing. It refuses a directory that [OwnDir] refuses. The path is empty if there is an error.
func CacheDir() (string, error) {
	dir, err := cachePath()
	if err == nil {
		err = MakeOwnDir(dir)
	}
	if err != nil {
		return "", err
	}
	return dir, nil
}

// InCacheDir reports whether the file at path is directly in the directory that [CacheDir] returns.
func InCacheDir(path string) bool {
	dir, err := cachePath()
	return err == nil && filepath.Dir(path) == dir
}

func cachePath() (string, error) {
	base, err := os.UserCacheDir()
	return filepath.Join(base, "clichain"), err
}

// StateDir returns the directory for this user's data that cannot be generated again, and creates it if it is
// missing. It refuses a directory that [OwnDir] refuses. If the home does not exist or is not writable, as in a
// build, it returns a directory below the temporary directory, unless other users may write there. StateDir
// reads the environment of this process, never that of a call. The path is empty if there is an error.
func StateDir() (string, error) { return stateDir(MakeOwnDir) }

// statePath returns the directory that [StateDir] would return, and creates nothing.
func statePath() (string, error) { return stateDir(checkOwnDir) }

// stateDir returns the first possible directory that usable accepts.
func stateDir(usable func(path string) error) (string, error) {
	base, err := stateHome()
	dir := filepath.Join(base, "clichain")
	if err == nil {
		err = usable(dir)
	}
	if temp := os.TempDir(); err != nil && protected(temp) {
		dir = filepath.Join(temp, "clichain-state")
		err = usable(dir)
	}
	if err != nil {
		return "", err
	}
	return dir, nil
}

// stateHome returns the directory in which programs keep data that must not be lost. It ignores a relative
// XDG_STATE_HOME, which would depend on the working directory of this process.
func stateHome() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	return defaultStateHome()
}

// MakeDir is [os.MkdirAll] for directories that only this user may enter. It never creates the home: for a
// directory below a home that does not exist, it returns an error.
func MakeDir(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := checkHome(dir); err != nil {
		return err
	}
	return mkdirAll(dir)
}

// MakeOwnDir is [OwnDir] for callers that need only the path.
func MakeOwnDir(path string) error {
	root, err := OwnDir(path)
	if err != nil {
		return err
	}
	return root.Close()
}

// checkOwnDir returns nil if [MakeOwnDir] would probably succeed. It creates nothing.
func checkOwnDir(path string) error {
	if _, err := os.Lstat(path); err == nil || !filepath.IsAbs(path) {
		return MakeOwnDir(path)
	}
	above := filepath.Dir(path)
	if err := checkHome(above); err != nil {
		return err
	}
	info, err := os.Stat(above)
	for ; errors.Is(err, fs.ErrNotExist) && filepath.Dir(above) != above; info, err = os.Stat(above) {
		above = filepath.Dir(above)
	}
	if err == nil && !(info.IsDir() && Writable(above)) {
		err = &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrPermission}
	}
	return err
}

// OwnDir opens a directory that belongs to clichain. It creates the directory and those above it if they are
// missing, except the home. The path must be absolute. OwnDir refuses a symbolic link as the last element of
// the path, and a directory of another user. It follows links above the directory. If other users may enter the
// directory, OwnDir removes these permissions.
func OwnDir(path string) (*os.Root, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%s is not an absolute path: set %s to an absolute path", path, HomeVariable)
	}
	path = filepath.Clean(path)
	if err := MakeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return openOwn(anywhere{}, path, path)
}

// NewDir creates and opens a directory that [OwnDir] would accept. The directory must not exist yet; its parent
// must exist.
func NewDir(path string) (*os.Root, error) {
	if err := mkdir(path); err != nil {
		return nil, err
	}
	return openOwn(anywhere{}, path, path)
}

// ownBelow is OwnDir for a directory in an open directory.
func ownBelow(parent *os.Root, name string) (*os.Root, error) {
	return openOwn(parent, name, filepath.Join(parent.Name(), name))
}

// refusedError is the error for a directory that another user may have prepared or could replace.
type refusedError string

func (e refusedError) Error() string { return string(e) }

func refuse(format string, args ...any) error { return refusedError(fmt.Sprintf(format, args...)) }

// parentDir is a directory in which a subdirectory is created and opened by its name.
type parentDir interface {
	Mkdir(name string, mode fs.FileMode) error
	Lstat(name string) (fs.FileInfo, error)
	OpenRoot(name string) (*os.Root, error)
}

// anywhere is a parentDir that takes paths as names. It opens no parent, because this user may be allowed to
// enter the parent but not to list it.
type anywhere struct{}

func (anywhere) Mkdir(path string, _ fs.FileMode) error { return mkdir(path) }
func (anywhere) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
func (anywhere) OpenRoot(path string) (*os.Root, error) { return os.OpenRoot(path) }

// openOwn creates a directory if it is missing, opens it, and checks the opened directory. path is for errors.
func openOwn(parent parentDir, name, path string) (*os.Root, error) {
	found, err := parent.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = parent.Mkdir(name, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			found, err = parent.Lstat(name)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case found.Mode()&fs.ModeSymlink != 0:
		return nil, refuse("%s is a symbolic link: replace it with a directory", path)
	case !found.IsDir():
		return nil, refuse("%s is not a directory: move it away", path)
	}
	root, err := parent.OpenRoot(name) // OpenRoot would follow a link
	if err != nil {
		return nil, err
	}
	if err := checkOpened(root, found, path); err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// checkOpened returns an error if the open directory is not the one that was found, or if another user owns it.
// It removes the permissions of other users.
func checkOpened(root *os.Root, found fs.FileInfo, path string) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	info, err := dir.Stat()
	switch {
	case err != nil:
		return err
	case !os.SameFile(found, info):
		return refuse("%s was replaced while it was opened: use a directory that others cannot write to", path)
	case !owned(info):
		return refuse("%s belongs to another user: use a directory that you own", path)
	}
	return closeToOthers(dir, info, path)
}

// missingHomeError is the error for a directory that would be below a home that does not exist.
type missingHomeError struct {
	dir, home string
	err       error // from the Stat of the home
}

func (e *missingHomeError) Error() string {
	return fmt.Sprintf("cannot create %s: %s=%s does not exist: create it, or set %[2]s to a directory that exists",
		e.dir, HomeVariable, e.home)
}

func (e *missingHomeError) Unwrap() error { return e.err }

// checkHome returns an error if creating the directory could create the home.
func checkHome(dir string) error {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return nil
	}
	_, err = os.Stat(home)
	if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	links := maxLinks
	from := resolve(home, &links)
	if rest, failed := filepath.Rel(from, resolve(dir, &links)); failed != nil || !filepath.IsLocal(rest) {
		return nil
	}
	return &missingHomeError{dir, home, err}
}

// resolve follows the links of a path whose last elements may be missing.
func resolve(path string, links *int) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	above := filepath.Dir(path)
	if above == path {
		return path
	}
	above = resolve(above, links)
	path = filepath.Join(above, filepath.Base(path))
	to, err := os.Readlink(path)
	if *links--; err != nil || *links < 0 {
		return path
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(above, to)
	}
	return resolve(to, links)
}
