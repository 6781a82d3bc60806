package slots

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// Names in the directory of the slots and in a slot.
const (
	lockName     = "lock"
	usedName     = "used"
	manifestName = "manifest"
	objectsName  = "objects"
	gitName      = "git"
	trashPrefix  = ".trash-"
)

// pollLock is the interval at which a process checks the lock of all slots, which is held briefly.
const pollLock = 5 * time.Millisecond

// unusedFor is the time after which Sweep removes a slot.
const unusedFor = 30 * 24 * time.Hour

// locked is the directory of a slot that this process has locked.
type locked struct {
	root, dir string
	unlock    func()
}

// acquire locks the first free slot of the directory top, and marks it as used.
func acquire(ctx context.Context, root, top string) (*locked, error) {
	if err := localfile.MakeOwnDir(root); err != nil {
		return nil, err
	}
	all, err := localfile.Lock(ctx, filepath.Join(root, lockName), pollLock)
	if err != nil {
		return nil, err
	}
	defer all()
	sum := sha256.Sum256([]byte(top))
	group := filepath.Join(root, hex.EncodeToString(sum[:10]))
	if err := localfile.MakeOwnDir(group); err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		dir := filepath.Join(group, strconv.Itoa(n))
		if err := localfile.MakeOwnDir(dir); err != nil {
			return nil, err
		}
		unlock, ok, err := localfile.TryLock(filepath.Join(dir, lockName))
		if err != nil {
			return nil, err
		}
		if ok {
			l := &locked{root, dir, unlock}
			if err := os.WriteFile(l.at(usedName), nil, 0o600); err != nil {
				l.release()
				return nil, err
			}
			return l, nil
		}
	}
}

func (l *locked) at(name string) string { return filepath.Join(l.dir, name) }

// release ends the use of the slot.
func (l *locked) release() {
	_ = os.Remove(l.at(usedName))
	now := time.Now()
	_ = os.Chtimes(l.at(lockName), now, now)
	l.unlock()
}

// discard ends the use of the slot and removes it. It moves the slot out of the way first, because an agent may have
// made files that cannot be removed. The next Sweep tries to remove them again.
func (l *locked) discard(ctx context.Context) {
	all, err := localfile.Lock(ctx, filepath.Join(l.root, lockName), pollLock)
	if err != nil {
		l.release()
		return
	}
	l.unlock()
	trash := filepath.Join(l.root, trashPrefix+rand.Text())
	err = os.Rename(l.dir, trash)
	all()
	if err == nil {
		_ = removeAll(trash)
	}
}

// Sweep removes the slots below root that a process left when it died, and slots that no process has used for 30 days.
// It leaves slots that are in use. A root that does not exist is no error.
func Sweep(ctx context.Context, root string) error {
	return sweep(ctx, root, time.Now())
}

func sweep(ctx context.Context, root string, now time.Time) error {
	names, err := readNames(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case name == lockName:
		case strings.HasPrefix(name, trashPrefix):
			err = errors.Join(err, removeAll(filepath.Join(root, name)))
		default:
			err = errors.Join(err, sweepGroup(ctx, root, filepath.Join(root, name), now))
		}
	}
	return err
}

// sweepGroup sweeps the slots of one original.
func sweepGroup(ctx context.Context, root, group string, now time.Time) error {
	names, err := readNames(group)
	if err != nil {
		return err
	}
	for _, name := range names {
		trash, failed := takeAway(ctx, root, filepath.Join(group, name), now)
		if failed == nil && trash != "" {
			failed = removeAll(trash)
		}
		err = errors.Join(err, failed)
	}
	unlock, failed := localfile.Lock(ctx, filepath.Join(root, lockName), pollLock)
	if failed != nil {
		return errors.Join(err, failed)
	}
	defer unlock()
	_ = os.Remove(group) // fails if it has slots
	return err
}

// takeAway moves a slot that is no longer needed out of the way. The lock of all slots keeps other processes from
// locking the slot meanwhile.
func takeAway(ctx context.Context, root, dir string, now time.Time) (trash string, err error) {
	all, err := localfile.Lock(ctx, filepath.Join(root, lockName), pollLock)
	if err != nil {
		return "", err
	}
	defer all()
	lock := filepath.Join(dir, lockName)
	info, err := os.Lstat(lock)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		info = nil
	}
	if info != nil {
		unlock, ok, err := localfile.TryLock(lock)
		if err != nil || !ok {
			return "", err
		}
		defer unlock()
		if !exists(dir, usedName) && now.Sub(info.ModTime()) < unusedFor {
			return "", nil
		}
	}
	trash = filepath.Join(root, trashPrefix+rand.Text())
	return trash, os.Rename(dir, trash)
}
