// Package localfile inspects, locks, reads and replaces local files. It detects changes, checks owners, and
// replaces a file so that no reader sees partial content. It does not interpret the content.
package localfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Read reads a regular file of at most limit bytes. The error for a larger file wraps ErrTooBig. It refuses
// pipes and devices, which could block the call.
func Read(path string, limit int64) ([]byte, error) { return read(path, limit, 0, nil) }

// ReadOwn is Read for a file that controls what clichain does. It refuses a symbolic link, and a file that
// another user owns or may write to.
func ReadOwn(path string, limit int64) ([]byte, error) {
	return read(path, limit, openNoFollow, own)
}

// CheckOwn returns the error with which [ReadOwn] and [Append] refuse the file at path. If it returns nil,
// these functions accept the file, and their error has another cause.
func CheckOwn(path string, limit int64) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return fits(path, info, limit, own)
}

// own returns an error if another user owns the file or may write to it.
func own(path string, info fs.FileInfo) error {
	switch {
	case !owned(info):
		return fmt.Errorf("%s belongs to another user", path)
	case shared(info):
		return fmt.Errorf("others may write to %s", path)
	}
	return nil
}

// ReadTrusted is Read for a path that [Trusted] accepts.
func ReadTrusted(path string, limit int64) ([]byte, error) {
	target, err := Trusted(path)
	if err != nil {
		return nil, err
	}
	return read(target, limit, openNoFollow, ours)
}

// Trusted resolves the links of an absolute path. Each link, each directory on the path and the file must
// belong to this user or root, and no other user may be able to replace it. Otherwise Trusted returns an error,
// because another user could choose the content.
func Trusted(path string) (target string, err error) {
	links := maxLinks
	return trusted(path, &links)
}

const maxLinks = 40 // the limit of Linux

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
		return "", fmt.Errorf("%s: too many symbolic links", path)
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

// ours returns an error if a user other than this user and root owns the file or may write to it.
func ours(path string, info fs.FileInfo) error {
	switch {
	case !owned(info) && !ownedByRoot(info):
		return foreign(path)
	case shared(info) && !(info.IsDir() && info.Mode()&fs.ModeSticky != 0): // sticky: only the owner can replace a file
		return fmt.Errorf("others may write to %s: run `chmod go-w %s`", path, path)
	}
	return nil
}

func foreign(path string) error {
	return fmt.Errorf("%s belongs to another user, who could change the content", path)
}

// check returns an error for a file that must not be used. A nil check accepts every file.
type check func(path string, info fs.FileInfo) error

// read reads a file that passes the check.
func read(path string, limit int64, flags int, check check) ([]byte, error) {
	file, err := openFile(path, os.O_RDONLY|openNoWait|flags, 0)
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

// ReadHead returns the first bytes of a file, up to limit.
func ReadHead(path string, limit int64) ([]byte, error) {
	file, err := openFile(path, os.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head := make([]byte, limit)
	n, err := file.Read(head)
	if err == io.EOF {
		err = nil
	}
	return head[:n], err
}

// ReadTail returns the last bytes of a regular file, up to limit.
func ReadTail(path string, limit int64) ([]byte, error) {
	file, err := openFile(path, os.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = fits(path, info, math.MaxInt64, nil)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-limit), limit))
}

// List returns the entries of a directory in any order. It returns none and an error for a directory with limit entries
// or more. 0 means no limit.
func List(dir string, limit int) ([]fs.DirEntry, error) {
	file, err := openFile(dir, os.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	entries, err := file.ReadDir(limit)
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case limit > 0 && len(entries) >= limit:
		return nil, fmt.Errorf("%s %w: %d entries", dir, ErrTooBig, len(entries))
	}
	return entries, nil
}

// fits returns an error if the file is not regular, has more than limit bytes, or does not pass the check.
func fits(path string, info fs.FileInfo, limit int64, check check) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case info.Size() > limit:
		return fmt.Errorf("%s %w: %d bytes", path, ErrTooBig, info.Size())
	case check == nil:
		return nil
	}
	return check(path, info)
}

// ErrTooBig is wrapped by the errors of [Read], [Append] and [List] for a file or directory that exceeds the limit.
var ErrTooBig = errors.New("is too large")

// Replace writes data to a new file that only its owner can read, and renames it to path, so that readers see
// either the old or the new file. The caller must hold a lock for path; a new file that exists already is from
// a killed process. Replace does not wait for the disk, because other processes would wait too: after a power
// failure, the file may be the old one, or empty.
func Replace(path string, data []byte) error {
	name := path + ".new"
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return ReplaceBy(name, path, data, 0o600)
}

// ReplaceBy writes data to a new file with that name, and renames it to path, so that readers see either the old or the
// new file. It replaces a symbolic link and does not follow it. If the names differ, several processes may replace one
// path at the same time; the last one wins.
func ReplaceBy(name, path string, data []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = cmp.Or(err, file.Close()); err == nil {
		err = Move(name, path)
	}
	if err != nil {
		_ = os.Remove(name) // report the first error
	}
	return err
}

// Append adds data to a file that only its owner can read. The data of several processes does not mix on a local
// disk. It creates the file if it is missing. It refuses a file that
// [ReadOwn] refuses or that has more than limit bytes already.
func Append(path string, data []byte, limit int64) error {
	flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY | openNoWait | openNoFollow
	file, err := openFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		err = fits(path, info, limit, own)
	}
	if err == nil {
		err = appendTo(file, data)
	}
	return cmp.Or(err, file.Close())
}

// Stamp identifies the content of a file without reading it. It changes if the file changes or is replaced. The
// zero value means that there is no file.
type Stamp struct {
	Inode    uint64      `json:"inode"`    // 0 on systems without inodes
	Linked   int64       `json:"linked"`   // when the symbolic link to the file was created, 0 without a link
	Modified int64       `json:"modified"` // nanoseconds since 1970
	Size     int64       `json:"size"`     // in bytes
	Mode     fs.FileMode `json:"mode"`
}

// StampOf returns the stamp of the file at path. It follows a symbolic link.
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

// StampOfInfo returns the stamp of a file from the result of Stat. For nil, it returns the zero value.
func StampOfInfo(info fs.FileInfo) Stamp {
	if info == nil {
		return Stamp{}
	}
	return Stamp{Inode: inode(info), Modified: info.ModTime().UnixNano(), Size: info.Size(), Mode: info.Mode()}
}

// Within reports whether a path is the directory or below it. Both are clean.
func Within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}
