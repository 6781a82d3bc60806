// Package localfile looks at, locks, reads and replaces files of this machine: has a file changed, who owns it, and how
// it is replaced without a reader ever seeing half of it. It does not know what is in the files.
package localfile

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// CacheDir returns the folder for this user's data that can be made again, and creates it if need be.
func CacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "clichain")
	return dir, os.MkdirAll(dir, 0o700)
}

// StateDir returns the folder for this user's data that cannot be made again, and creates it if need be. Where the home
// takes no files, as in a build, it is below the temporary directory, unless others may write there. It asks the
// environment of this process, never that of a call.
func StateDir() (string, error) {
	base, err := stateHome()
	dir := filepath.Join(base, "clichain")
	if err == nil {
		err = Private(dir)
	}
	if err == nil {
		return dir, nil
	}
	if temp := os.TempDir(); protected(temp) {
		dir = filepath.Join(temp, "clichain-state")
		return dir, Private(dir)
	}
	return "", err
}

// Private creates a folder that only this user may enter, if need be. A folder of this user that others may enter
// is closed to them. It is an error when another user owns the folder.
func Private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !owned(info):
		return fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// Lock waits until this process has locked the file at path, or ctx is done. It creates the file and its folder if need
// be, and tries every poll. unlock may be called once and leaves the file there: removing it would let two processes
// lock two different files of that name.
func Lock(ctx context.Context, path string, poll time.Duration) (unlock func(), err error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	_, err = lock.TryLockContext(ctx, poll)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		_, err = lock.TryLockContext(ctx, poll)
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, nil // unlocks
}

// Read reads a regular file of at most limit bytes; the error wraps ErrTooBig
// for a bigger one. It refuses pipes and devices, which could block the call.
func Read(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s %w: it has %d bytes", path, ErrTooBig, info.Size())
	}
	return io.ReadAll(io.LimitReader(file, limit))
}

// ErrTooBig is wrapped by the error of [Read] for a file over its limit.
var ErrTooBig = errors.New("is too big")

// Replace writes data to a new file that only its owner can read, and moves it to path, as a whole or not at all. The
// caller must hold a lock for path, so a new file that is there already was left by a process that was killed.
func Replace(path string, data []byte) error {
	name := path + ".new"
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = cmp.Or(err, file.Close()); err == nil {
		err = Move(name, path)
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}

// Stamp identifies the content of a file without reading it: it changes when
// the file does, or when another takes its place. The zero value means no file.
type Stamp struct {
	Inode    uint64      `json:"inode"`    // 0 where the system has none
	Linked   int64       `json:"linked"`   // when the symbolic link to it was made, 0 without one
	Modified int64       `json:"modified"` // nanoseconds since 1970
	Size     int64       `json:"size"`     // in bytes
	Mode     fs.FileMode `json:"mode"`
}

// StampOf returns the stamp of the file that path leads to.
func StampOf(path string) (Stamp, error) {
	link, err := os.Lstat(path)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return StampOfInfo(link), err
	}
	info, err := os.Stat(path)
	stamp := StampOfInfo(info)
	stamp.Linked = link.ModTime().UnixNano()
	return stamp, err
}

// StampOfInfo returns the stamp of a file from what Stat said of it; nil gives the zero value.
func StampOfInfo(info fs.FileInfo) Stamp {
	if info == nil {
		return Stamp{}
	}
	return Stamp{Inode: inode(info), Modified: info.ModTime().UnixNano(), Size: info.Size(), Mode: info.Mode()}
}

const (
	tempPrefix   = "clichain-"
	tempAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // of rand.Text
)

var tempLength = len(rand.Text()) // which may grow with a later Go

// TempName returns a new name for the folder of one call.
func TempName() string { return tempPrefix + rand.Text() }

// staleAfter is the age at which the folder of a call cannot be in use any more.
const staleAfter = 48 * time.Hour

// What one call of RemoveStale may do, because it is in the way of what a program came for. The rest is left for the
// next call.
const (
	staleLooks = 1000                   // folders it looks at
	staleTime  = 100 * time.Millisecond // after which it looks at no more
	stalePiece = 256                    // names it reads at once
)

// RemoveStale removes the folders that TempName named in dir and that were last changed two days before now: their
// processes were killed before they could clean up. Folders of other users cannot be removed, and stay. It looks at no
// more than 1000 folders and takes little more than 100 ms, so it may leave some for the next call.
func RemoveStale(dir string, now time.Time) {
	begin := time.Now()
	removeStale(dir, now, func() bool { return time.Since(begin) > staleTime })
}

// removeStale returns how many folders it has looked at. It asks late before every piece and every folder.
func removeStale(dir string, now time.Time, late func() bool) (looks int) {
	folder, err := os.Open(dir)
	if err != nil {
		return 0
	}
	defer folder.Close()
	for {
		if late() {
			return looks
		}
		names, err := folder.Readdirnames(stalePiece)
		for _, name := range names {
			if !isTempName(name) {
				continue
			}
			if looks == staleLooks || late() {
				return looks
			}
			looks++
			removeIfStale(filepath.Join(dir, name), now)
		}
		if err != nil { // the end, too
			return looks
		}
	}
}

// isTempName reports whether TempName may have returned the name.
func isTempName(name string) bool {
	text, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(text) == tempLength && strings.Trim(text, tempAlphabet) == ""
}

func removeIfStale(path string, now time.Time) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() && now.Sub(info.ModTime()) > staleAfter {
		_ = os.RemoveAll(path) // another user's stays
	}
}
