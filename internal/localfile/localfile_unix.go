//go:build unix

package localfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// HomeVariable is the environment variable that names the home directory.
const HomeVariable = "HOME"

// openNoWait makes opening a pipe return at once instead of waiting for a writer.
const openNoWait = syscall.O_NONBLOCK

// openNoFollow makes opening a symbolic link fail.
const openNoFollow = syscall.O_NOFOLLOW

// Mine reports whether a file belongs to this user or does not exist. A file of another user could stop
// clichain from using any backend.
func Mine(path string) bool {
	info, err := os.Stat(path)
	return err != nil || owned(info)
}

// owned reports whether this user owns the file that info describes.
func owned(info fs.FileInfo) bool { return ownedBy(info, os.Geteuid()) }

func ownedByRoot(info fs.FileInfo) bool { return ownedBy(info, 0) }

func ownedBy(info fs.FileInfo, uid int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == uid
}

// protected reports whether only this user and root may write to a directory and the directories above it.
func protected(dir string) bool { return guarded(dir, 0) }

// keepsEntries reports whether only this user and root may replace what this user creates in a directory. Other
// users may not write to it and to the directories above, or these have the sticky bit.
func keepsEntries(dir string) bool { return guarded(dir, fs.ModeSticky) }

// guarded reports whether a directory and the directories above it belong to this user or root, and whether
// other users may only write to directories with the bit unless.
func guarded(dir string, unless fs.FileMode) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return false
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || shared(info) && info.Mode()&unless == 0 || !owned(info) && !ownedByRoot(info) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

// shared reports whether other users may write to the file that info describes.
func shared(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

// closeToOthers removes the permissions of other users from an open directory of this user. It returns an error
// if they may still write to it, as on a file system without permissions.
func closeToOthers(dir *os.File, info fs.FileInfo, path string) error {
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := dir.Chmod(0o700); err != nil {
		return fmt.Errorf("others may enter %s: %w", path, err)
	}
	info, err := dir.Stat()
	if err == nil && shared(info) {
		err = refuse("others may write to %s: use a file system with permissions", path)
	}
	return err
}

// defaultStateHome is stateHome without XDG_STATE_HOME.
func defaultStateHome() (string, error) {
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = fmt.Errorf("HOME=%s is not an absolute path: set it to one", home)
	}
	return filepath.Join(home, ".local", "state"), err
}

// Writable reports whether this user may write to path.
func Writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// Move renames a file and replaces an existing one, atomically.
func Move(from, to string) error { return os.Rename(from, to) }

func openFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}

// appendTo writes to the end of a file with a single write.
func appendTo(file *os.File, data []byte) error {
	_, err := file.Write(data)
	return err
}

func mkdir(path string) error { return os.Mkdir(path, 0o700) }

func mkdirAll(path string) error { return os.MkdirAll(path, 0o700) }

// LinkTarget returns the target of a symbolic link, and "" for another file. The error says that no file is there.
func LinkTarget(path string) (target string, err error) {
	var buffer [256]byte
	switch n, err := unix.Readlink(path, buffer[:]); {
	case err == unix.EINVAL:
		return "", nil
	case err != nil:
		return "", err
	case n < len(buffer):
		return string(buffer[:n]), nil
	}
	return os.Readlink(path)
}
