package localfile

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"syscall"
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

// Move renames a file and replaces an existing one. This system cannot replace a file that a process is reading, so
// Move retries.
func Move(from, to string) error { return retry(func() error { return os.Rename(from, to) }) }

// openFile is [os.OpenFile]. This system cannot open a file while another process replaces it, so openFile retries.
func openFile(name string, flag int, mode fs.FileMode) (file *os.File, err error) {
	err = retry(func() (err error) { file, err = os.OpenFile(name, flag, mode); return err })
	return file, err
}

// retries are the errors of a file that another process uses, and for how long a retry may help. Missing permissions
// have the second error, too.
var retries = map[error]time.Duration{
	windows.ERROR_SHARING_VIOLATION: 2 * time.Second,
	windows.ERROR_ACCESS_DENIED:     50 * time.Millisecond,
}

func retry(do func() error) error {
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := do()
		errno, _ := errors.AsType[syscall.Errno](err)
		if err == nil || time.Since(begin) >= retries[errno] {
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
