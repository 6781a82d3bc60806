//go:build unix

package owner

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Check returns an error for the file at path, of which info is, if it belongs to another user than the one that this
// process runs as.
func Check(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if self := os.Geteuid(); ok && int(stat.Uid) != self {
		return fmt.Errorf("%s belongs to another user (uid %d; this process runs as uid %d)", path, stat.Uid, self)
	}
	return nil
}

// CheckDir returns an error if another user, except root, owns the directory or may write to it.
func CheckDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 {
		if err := Check(dir, info); err != nil {
			return fmt.Errorf("%w; use a directory that you own", err)
		}
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write to %s (mode %04o); use a private directory, such as $XDG_RUNTIME_DIR",
			dir, info.Mode().Perm())
	}
	return nil
}
