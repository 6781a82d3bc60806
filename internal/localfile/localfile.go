// Package localfile looks at, locks, reads and replaces files of this machine: has a file changed, who owns it, and how
// it is replaced without a reader ever seeing half of it. It does not know what is in the files.
package localfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Read reads a regular file of at most limit bytes; the error wraps ErrTooBig
// for a bigger one. It refuses pipes and devices, which could block the call.
func Read(path string, limit int64) ([]byte, error) { return read(path, limit, 0, nil) }

// ReadOwn is Read for a file that decides something: it refuses a symbolic link, and a file that another user owns or
// may write to.
func ReadOwn(path string, limit int64) ([]byte, error) {
	return read(path, limit, openNoFollow, own)
}

// CheckOwn returns the error with which [ReadOwn] and [Append] refuse what they find at path. Nil: they would take it,
// so an error of theirs is of another kind.
func CheckOwn(path string, limit int64) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return fits(path, info, limit, own)
}

// own refuses what another user owns or may write to.
func own(path string, info fs.FileInfo) error {
	switch {
	case !owned(info):
		return fmt.Errorf("%s belongs to another user", path)
	case shared(info):
		return fmt.Errorf("others may write to %s", path)
	}
	return nil
}

// ReadTrusted is Read for a file that [Trusted] finds.
func ReadTrusted(path string, limit int64) ([]byte, error) {
	target, err := Trusted(path)
	if err != nil {
		return nil, err
	}
	return read(target, limit, openNoFollow, ours)
}

// Trusted follows the links of an absolute path to what it leads to. It refuses a path on which somebody but this user
// and root owns a link, a folder or the file, or could put another in its place: they would choose what is read.
func Trusted(path string) (target string, err error) {
	links := maxLinks
	return trusted(path, &links)
}

const maxLinks = 40 // as many as Linux follows

func trusted(path string, links *int) (string, error) {
	if above := filepath.Dir(path); above != path {
		dir, err := trusted(above, links)
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return path, ours(path, info)
	}
	if *links--; *links < 0 {
		return "", fmt.Errorf("%s: there are too many links on the way", path)
	}
	if !owned(info) && !ownedByRoot(info) {
		return "", foreign(path)
	}
	to, err := os.Readlink(path)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	return trusted(to, links)
}

// ours refuses what somebody but this user and root owns or may write to.
func ours(path string, info fs.FileInfo) error {
	switch {
	case !owned(info) && !ownedByRoot(info):
		return foreign(path)
	case shared(info) && !(info.IsDir() && info.Mode()&fs.ModeSticky != 0): // there only the owner replaces a file
		return fmt.Errorf("others may write to %s: run `chmod go-w %s`", path, path)
	}
	return nil
}

func foreign(path string) error {
	return fmt.Errorf("%s belongs to another user, who could change what is read there", path)
}

// check refuses a file for what it is. Nil refuses nothing.
type check func(path string, info fs.FileInfo) error

// read reads a file that passes the check.
func read(path string, limit int64, flags int, check check) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|openNoWait|flags, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = fits(path, info, limit, check)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, limit))
}

// fits refuses a file that is not regular, has more than limit bytes, or does not pass the check.
func fits(path string, info fs.FileInfo, limit int64, check check) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case info.Size() > limit:
		return fmt.Errorf("%s %w: it has %d bytes", path, ErrTooBig, info.Size())
	case check == nil:
		return nil
	}
	return check(path, info)
}

// ErrTooBig is wrapped by the error of [Read] and of [Append] for a file over its limit.
var ErrTooBig = errors.New("is too big")

// Replace writes data to a new file that only its owner can read, and moves it to path, as a whole or not at all. The
// caller must hold a lock for path, so a new file that is there already was left by a process that was killed. It does
// not wait for the disk, for which others would wait too: after a power failure the file may be the old one, or empty.
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
	if err = cmp.Or(err, file.Close()); err == nil {
		err = Move(name, path)
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}

// Append adds data to a file that only its owner can read, in one write, so that data of several processes does not mix
// on a disk of this machine. It makes the file if there is none. It refuses what [ReadOwn] does, and a file that has
// more than limit bytes already.
func Append(path string, data []byte, limit int64) error {
	flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY | openNoWait | openNoFollow
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		err = fits(path, info, limit, own)
	}
	if err == nil {
		_, err = file.Write(data)
	}
	return cmp.Or(err, file.Close())
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
