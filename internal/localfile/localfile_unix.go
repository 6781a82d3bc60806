//go:build unix

package localfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openNoWait makes opening a pipe return at once instead of waiting for a writer.
const openNoWait = syscall.O_NONBLOCK

// Mine reports whether a file belongs to this user, or does not exist. What
// another user wrote there could keep all backends from being asked.
func Mine(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// Writable reports whether this user may write to path.
func Writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// Move renames a file and replaces one that is there, in one step.
func Move(from, to string) error { return os.Rename(from, to) }
