package localfile

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"time"

	"golang.org/x/sys/windows"
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

// How long to retry while another process uses a file.
const (
	busyLimit   = 2 * time.Second
	deniedLimit = 50 * time.Millisecond // if the permissions of the file may be the cause
)

// Move renames a file and replaces an existing one. This system cannot replace a file that a process is reading, so
// Move retries for two seconds. It fails if processes read the file all the time.
func Move(from, to string) error {
	return retry(busyLimit, func() error { return os.Rename(from, to) })
}

// openFile is [os.OpenFile]. This system cannot open a file while another process replaces it, so openFile retries.
func openFile(name string, flag int, mode fs.FileMode) (file *os.File, err error) {
	err = retry(deniedLimit, func() (err error) { file, err = os.OpenFile(name, flag, mode); return err })
	return file, err
}

// retry calls do until it succeeds or fails with another error than those of a file in use.
func retry(denied time.Duration, do func() error) error {
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		err, limit := do(), time.Duration(0)
		switch {
		case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
			limit = busyLimit
		case errors.Is(err, windows.ERROR_ACCESS_DENIED):
			limit = denied
		}
		if time.Since(begin) >= limit {
			return err
		}
	}
}

// appendTo writes to the end of a file. The lock orders the writes of several processes, because not every file system
// does.
func appendTo(file *os.File, data []byte) error {
	handle, end := windows.Handle(file.Fd()), &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxInt32}
	if err := windows.LockFileEx(handle, windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, end); err == nil {
		defer func() { _ = windows.UnlockFileEx(handle, 0, 1, 0, end) }()
	}
	_, err := file.Write(data)
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
