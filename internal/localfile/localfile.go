package localfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// CacheDir is this user's folder for what can be made again.
func CacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "clichain")
	return dir, os.MkdirAll(dir, 0o700)
}

// Lock waits for the lock of a file that stands for something else, and
// makes the file, and its folder, if need be. Its poll is the pause between two
// looks at the lock. The file stays: removing it would let two processes lock
// two files.
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
	return func() { _ = lock.Close() }, nil // which gives the lock back
}

// Read reads a regular file of at most that many bytes; others, a pipe
// say, would hold the call up.
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

// ErrTooBig is what the error of a file wraps that is over its limit.
var ErrTooBig = errors.New("is too big")

// Replace puts a file of this text, for its owner only, in the place of
// another, as a whole or not at all. The caller holds a lock, so what is left of
// the new file is that of a process that was killed.
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
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = Move(name, path)
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}
