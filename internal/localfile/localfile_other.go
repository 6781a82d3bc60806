//go:build !unix

package localfile

import (
	"io/fs"
	"os"
	"time"
)

// HomeVariable is the environment variable that names the home directory.
const HomeVariable = "USERPROFILE"

// Both flags have no effect on this system.
const (
	openNoWait   = 0
	openNoFollow = 0
)

// Mine is always true: on this system, the permissions of the directory decide which users may write.
func Mine(string) bool { return true }

func owned(fs.FileInfo) bool       { return true }
func ownedByRoot(fs.FileInfo) bool { return false }
func shared(fs.FileInfo) bool      { return false }

// closeToOthers has no effect: the permissions of the parent directory decide which users may enter.
func closeToOthers(*os.File, fs.FileInfo, string) error { return nil }

// protected is always false. Finding out which users may write to a directory is expensive here, and a user's
// home is writable.
func protected(string) bool { return false }

// keepsEntries is always false, for the same reason as protected.
func keepsEntries(string) bool { return false }

// defaultStateHome returns the cache directory: it is local to this machine, and nothing empties it.
func defaultStateHome() (string, error) { return os.UserCacheDir() }

// Writable reports whether the directory exists. Only a write would show whether this user may write there.
func Writable(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func inode(fs.FileInfo) uint64 { return 0 }

// Move renames a file and replaces an existing one. It retries for 50 ms, because this system cannot replace a
// file that a process is reading.
func Move(from, to string) (err error) {
	for range 10 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}

// LinkTarget returns the target of a symbolic link, and "" for another file. The error says that no file is there.
func LinkTarget(path string) (target string, err error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	return os.Readlink(path)
}
