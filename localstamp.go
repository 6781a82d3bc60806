package clichain

import (
	"io/fs"
	"os"
)

// fileStamp changes when a file does, or when another takes its place. The zero
// value is that of no file.
type fileStamp struct {
	Inode    uint64      `json:"inode"`    // 0 where the system has none
	Linked   int64       `json:"linked"`   // when the link to it was made, where there is one
	Modified int64       `json:"modified"` // nanoseconds since 1970
	Size     int64       `json:"size"`
	Mode     fs.FileMode `json:"mode"`
}

// stampOf is the stamp of the file that a path leads to.
func stampOf(path string) (fileStamp, error) {
	link, err := os.Lstat(path)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return stampOfInfo(link), err
	}
	info, err := os.Stat(path)
	stamp := stampOfInfo(info)
	stamp.Linked = link.ModTime().UnixNano()
	return stamp, err
}

// stampOfInfo is the stamp of a file that was looked at; nil: there is none.
func stampOfInfo(info fs.FileInfo) fileStamp {
	if info == nil {
		return fileStamp{}
	}
	return fileStamp{Inode: inode(info), Modified: info.ModTime().UnixNano(), Size: info.Size(), Mode: info.Mode()}
}
