package slots

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// copier copies files. It is safe for concurrent use.
type copier struct {
	sum     func() hash.Hash // the hash of git's object names; nil: no names
	buffers sync.Pool        // of *[]byte
	noClone atomic.Bool      // the file system cannot clone
}

const (
	bufferSize = 256 << 10
	// cloneSize is the size at which cloning a file is faster than copying it.
	cloneSize = 128 << 10
	// maxChanges limits how often a file is copied again that another program changes meanwhile.
	maxChanges = 5
)

// errKind means that a file is neither a regular file nor a symbolic link.
var errKind = errors.New("neither a regular file nor a symbolic link")

// copy copies the file from, which has the stamp src, to the path to, which must not exist. It returns the entry of the
// copy without its path. The copy has the content, the permissions and the time of the original, but shares nothing
// with it that a program could change.
func (c *copier) copy(from, to string, src stamp) (e entry, err error) {
	for range maxChanges {
		switch src.kind() {
		case kindFile:
			e.object, err = c.copyFile(from, to, src)
		case kindLink:
			e.object, err = c.copyLink(from, to)
		default:
			return e, errKind
		}
		if err != nil {
			return e, err
		}
		now, err := lstat(from)
		if err != nil {
			return e, errors.Join(err, removeFile(to))
		}
		if now == src {
			e.src = src
			e.dst, err = lstat(to)
			return e, err
		}
		if err := removeFile(to); err != nil {
			return e, err
		}
		src = now
	}
	return e, fmt.Errorf("workspace: another program keeps changing %s", from)
}

func (c *copier) copyLink(from, to string) (object string, err error) {
	target, err := os.Readlink(from)
	if err != nil {
		return "", err
	}
	if err := os.Symlink(target, to); err != nil {
		return "", err
	}
	if c.sum == nil {
		return "", nil
	}
	sum := c.sum()
	fmt.Fprintf(sum, "blob %d\x00%s", len(target), target)
	return string(sum.Sum(nil)), nil
}

func (c *copier) copyFile(from, to string, src stamp) (object string, err error) {
	in, err := openSource(from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	mode := os.FileMode(src.mode&0o777 | 0o400) // this user may be able to read the original only as a member of its group
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o200)
	if err != nil {
		return "", err
	}
	object, err = c.copyBytes(in, out, src.size)
	if info, failed := out.Stat(); err == nil && failed == nil && info.Mode().Perm() != mode {
		err = out.Chmod(mode) // the umask of this process, or a file that its owner may not write
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return "", errors.Join(err, removeFile(to))
	}
	return object, setTime(to, src.mtime)
}

// copyBytes copies the content and returns the name of the blob.
func (c *copier) copyBytes(in, out *os.File, size uint64) (object string, err error) {
	cloned := false
	if size >= cloneSize && !c.noClone.Load() {
		cloned = clone(out, in)
		c.noClone.Store(!cloned)
	}
	if cloned && c.sum == nil {
		return "", nil
	}
	var to io.Writer = out
	if cloned {
		to = io.Discard
	}
	var sum hash.Hash
	if c.sum != nil {
		sum = c.sum()
		fmt.Fprintf(sum, "blob %d\x00", size)
		to = io.MultiWriter(to, sum)
	}
	buffer, ok := c.buffers.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, bufferSize)
		buffer = &fresh
	}
	defer c.buffers.Put(buffer)
	for {
		n, err := in.Read(*buffer)
		if n > 0 {
			if _, err := to.Write((*buffer)[:n]); err != nil {
				return "", err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if sum == nil {
		return "", nil
	}
	return string(sum.Sum(nil)), nil
}
