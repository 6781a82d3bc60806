//go:build !unix

package localfile

import (
	"io/fs"
	"os"
	"time"
)

// openNoWait keeps a pipe in a file's place from holding a call up.
const openNoWait = 0

// Mine reports whether a file is this user's: who may write there is left to
// the folder.
func Mine(string) bool { return true }

// Writable reports whether there is such a folder; who may write there, only
// writing would tell.
func Writable(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func inode(fs.FileInfo) uint64 { return 0 }

// Move puts a file in the place of another. It waits a little for readers,
// which keep the file in its place.
func Move(from, to string) (err error) {
	for range 10 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}
