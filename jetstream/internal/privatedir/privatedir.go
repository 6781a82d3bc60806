// Package privatedir makes directories and files that only their user can read.
package privatedir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Make creates a directory that only this user may enter, or takes the permissions of other users from an existing one.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return restrict(dir)
}

// StateHome returns the directory for the state of this user's programs: $XDG_STATE_HOME, or ~/.local/state, or
// %LocalAppData% on Windows.
func StateHome() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if runtime.GOOS == "windows" {
		return os.UserCacheDir()
	}
	home, err := os.UserHomeDir()
	if err == nil {
		_, err = os.Stat(home) // a missing home is never created
	}
	return filepath.Join(home, ".local", "state"), err
}

// WriteFile writes a file atomically: even after a power failure it is complete or missing.
func WriteFile(file string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), "new-*") // with the permissions 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		_ = dir.Sync() // not every system supports it
		_ = dir.Close()
	}
	return nil
}
