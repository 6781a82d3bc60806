//go:build !unix

package localfile

import (
	"io/fs"
	"os"
	"time"
)

// Both have no effect on this system.
const (
	openNoWait   = 0
	openNoFollow = 0
)

// Mine is always true: here the folder's permissions decide who may write.
func Mine(string) bool { return true }

func owned(fs.FileInfo) bool       { return true }
func ownedByRoot(fs.FileInfo) bool { return false }
func shared(fs.FileInfo) bool      { return false }

// closeToOthers has no effect: the permissions of the directory above decide who may enter.
func closeToOthers(*os.File, fs.FileInfo, string) error { return nil }

// protected is always false: who may write to a folder would take more to find out, and the home of a user is writable.
func protected(string) bool { return false }

// keepsEntries is always false, as protected is.
func keepsEntries(string) bool { return false }

// stateHome is the folder of caches too: it is local to this machine, and nothing empties it.
func stateHome() (string, error) { return os.UserCacheDir() }

// Writable reports whether the folder exists. Whether this user may write there would only show by writing.
func Writable(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func inode(fs.FileInfo) uint64 { return 0 }

// Move renames a file and replaces one that is there. It retries for 50 ms,
// because a file that somebody reads cannot be replaced here.
func Move(from, to string) (err error) {
	for range 10 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}
