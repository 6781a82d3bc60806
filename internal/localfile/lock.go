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

// Turns is a contended lock that is held briefly: by one goroutine of this process, and one process at a time. Polling
// would mostly find the lock taken. Instead, the operating system wakes the waiting processes, and a second lock puts
// the process that has just released the lock behind them. Make it with NewTurns.
type Turns struct {
	path string
	busy chan struct{} // full while this process has the lock or waits for it
}

// NewTurns returns the lock of the file at path. Processes that lock the same file exclude each other.
func NewTurns(path string) Turns { return Turns{path, make(chan struct{}, 1)} }

// Valid reports whether NewTurns has made the lock.
func (t Turns) Valid() bool { return t.busy != nil }

// Lock waits for the lock until ctx is done, and then returns the error of ctx. It calls prepare once before it creates
// the file, and returns its error. The wait for other processes cannot be interrupted: it continues in the background,
// and the lock is released as soon as it is acquired. Until then, no other call of Lock waits for the file.
func (t Turns) Lock(ctx context.Context, prepare func() error) (unlock func(), err error) {
	select {
	case t.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := prepare(); err != nil {
		<-t.busy
		return nil, err
	}
	lock := flock.New(t.path, flock.SetPermissions(0o600))
	release := func() { _ = lock.Close(); <-t.busy }
	locked := make(chan error)
	go func() {
		err := lockAfter(t.path+".next", lock.Lock)
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
