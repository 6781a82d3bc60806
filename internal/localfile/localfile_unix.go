//go:build unix

package localfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openNoWait keeps a pipe in a file's place from holding a call up.
const openNoWait = syscall.O_NONBLOCK

// Mine reports whether a file is this user's: what others wrote there could
// keep all backends from being asked.
func Mine(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true // what is not there is nobody else's
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// Writable reports whether this user may write there.
func Writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// Move puts a file in the place of another, in one step.
func Move(from, to string) error { return os.Rename(from, to) }
