//go:build !unix

package clichain

import (
	"io/fs"
	"os"
	"time"
)

// openNoWait keeps a pipe in a file's place from holding a call up.
const openNoWait = 0

// isMine reports whether a file is this user's: who may write there is left to
// the folder.
func isMine(string) bool { return true }

// writable reports whether there is such a folder; who may write there, only
// writing would tell.
func writable(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func inode(fs.FileInfo) uint64 { return 0 }

// moveFile puts a file in the place of another. It waits a little for readers,
// which keep the file in its place.
func moveFile(from, to string) (err error) {
	for range 10 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}
