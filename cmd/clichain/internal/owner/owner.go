// Package owner checks that files and directories belong to the user that this process runs as, and makes directories
// for that user.
package owner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/clichain/clichain/settings"
)

// CheckPath returns an error if another user, except root, owns the file at path, a directory above it or a link in the
// path, or could replace one of them.
func CheckPath(path string) error {
	err := settings.CheckFile(path)
	if inner := errors.Unwrap(err); inner != nil {
		return inner // without the word "settings"
	}
	return err
}

// MkdirAll is [os.MkdirAll] for directories that only this user may enter. It makes no home: where the directory is
// below a home that does not exist, it returns an error.
func MkdirAll(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err == nil && below(home, abs) {
		if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot make %s: HOME=%s does not exist", dir, home)
		}
	}
	return os.MkdirAll(abs, 0o700)
}

// below reports whether path is dir or below it.
func below(dir, path string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}
