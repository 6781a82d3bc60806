//go:build unix

package clichain

import (
	"io/fs"
	"os"
	"syscall"
)

// openNoWait keeps a pipe in the file's place from holding a call up.
const openNoWait = syscall.O_NONBLOCK

// mine reports whether a file is this user's: what others wrote there could
// keep all backends from being asked.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

func replaceFile(from, to string) error { return os.Rename(from, to) }
