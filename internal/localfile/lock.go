package localfile

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Lock waits until this process has locked the file at path, or ctx is done. It creates the file, and its
// directory as [MakeDir] does. It polls at the interval poll. unlock may be called once. It does not remove the
// file, because two processes could then lock two different files with that name.
func Lock(ctx context.Context, path string, poll time.Duration) (unlock func(), err error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	err = inNewDir(path, func() error { _, err := lock.TryLockContext(ctx, poll); return err })
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, nil // unlocks
}

// TryLock is Lock without waiting. locked is false if another process, or another lock of this process, has the lock.
func TryLock(path string) (unlock func(), locked bool, err error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	err = inNewDir(path, func() (err error) { locked, err = lock.TryLock(); return err })
	if err != nil || !locked {
		return nil, false, errors.Join(err, lock.Close())
	}
	return func() { _ = lock.Close() }, true, nil // unlocks
}

// LockInTurn is Lock for a contended lock that is held briefly. Polling would mostly find the lock taken.
// Instead, the operating system wakes the waiting processes, and a second lock puts the process that has just
// released the lock behind them. The wait cannot be interrupted. If ctx is done first, the wait continues in
// the background, and the lock is released as soon as it is acquired. over is called once, when the lock is
// neither held nor waited for.
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

// lockAfter locks while it holds the lock of the file at path.
func lockAfter(path string, lock func() error) error {
	next := flock.New(path, flock.SetPermissions(0o600))
	if err := inNewDir(path, next.Lock); err != nil {
		return err
	}
	defer next.Close()
	return lock()
}

// inNewDir calls lock again after creating the directory of the file, if the directory was missing.
func inNewDir(path string, lock func() error) error {
	err := lock()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := MakeDir(filepath.Dir(path)); err != nil {
		return err
	}
	return lock()
}
