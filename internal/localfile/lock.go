package localfile

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Lock waits until this process has locked the file at path, or ctx is done. It creates the file, and its folder as
// [MakeDir] does, and tries every poll. unlock may be called once and leaves the file there: removing it would let two
// processes lock two different files of that name.
func Lock(ctx context.Context, path string, poll time.Duration) (unlock func(), err error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	err = inFolder(path, func() error { _, err := lock.TryLockContext(ctx, poll); return err })
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, nil // unlocks
}

// LockInTurn is Lock for a lock that many want and that is held for moments. Who looks from time to time mostly finds
// it taken again; here the system wakes those who wait, and a second lock, beside, keeps who has just given the lock
// back behind them. The system cannot be told to stop: where ctx is done first, the wait goes on, and the lock is given
// back as soon as it is had. over is called once, when the lock is neither held nor waited for any more.
func LockInTurn(ctx context.Context, path string, over func()) (unlock func(), err error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	release := func() { _ = lock.Close(); over() }
	locked := make(chan error)
	go func() {
		err := lockAfter(path+".next", lock.Lock)
		select {
		case locked <- err:
		case <-ctx.Done():
			release()
		}
	}()
	select {
	case err = <-locked:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// lockAfter locks while the file at path is locked too.
func lockAfter(path string, lock func() error) error {
	next := flock.New(path, flock.SetPermissions(0o600))
	if err := inFolder(path, next.Lock); err != nil {
		return err
	}
	defer next.Close()
	return lock()
}

// inFolder makes the folder of the file if its lock needs it.
func inFolder(path string, lock func() error) error {
	err := lock()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := MakeDir(filepath.Dir(path)); err != nil {
		return err
	}
	return lock()
}
