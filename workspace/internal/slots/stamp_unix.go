//go:build unix

package slots

import (
	"os"

	"golang.org/x/sys/unix"
)

// stampsProve reports whether equal stamps prove that a file did not change.
const stampsProve = true

// lstat returns the stamp of the file at path. It does not follow a symbolic link.
func lstat(path string) (stamp, error) {
	var st unix.Stat_t
	for {
		err := unix.Lstat(path, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return stamp{}, &os.PathError{Op: "lstat", Path: path, Err: err}
		}
		return stamp{
			dev: uint64(st.Dev), ino: st.Ino, size: uint64(st.Size), mtime: nanoseconds(st.Mtim), ctime: nanoseconds(st.Ctim),
			mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid, links: uint32(st.Nlink),
		}, nil
	}
}

func nanoseconds(t unix.Timespec) uint64 { return uint64(t.Nano()) }

// setTime sets the time of the last change of the content of a file.
func setTime(path string, mtime uint64) error {
	at := unix.NsecToTimespec(int64(mtime))
	err := unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return &os.PathError{Op: "utimes", Path: path, Err: err}
	}
	return nil
}

// openSource opens a file of the original. It does not follow a symbolic link or wait for the writer of a pipe.
func openSource(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}
