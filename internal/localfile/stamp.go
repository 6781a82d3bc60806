package localfile

import (
	"io/fs"
	"os"
)

// Stamp changes when a file does, or when another takes its place. The zero
// value is that of no file.
type Stamp struct {
	Inode    uint64      `json:"inode"`    // 0 where the system has none
	Linked   int64       `json:"linked"`   // when the link to it was made, where there is one
	Modified int64       `json:"modified"` // nanoseconds since 1970
	Size     int64       `json:"size"`
	Mode     fs.FileMode `json:"mode"`
}

// StampOf is the stamp of the file that a path leads to.
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

// StampOfInfo is the stamp of a file that was looked at; nil: there is none.
func StampOfInfo(info fs.FileInfo) Stamp {
	if info == nil {
		return Stamp{}
	}
	return Stamp{Inode: inode(info), Modified: info.ModTime().UnixNano(), Size: info.Size(), Mode: info.Mode()}
}
