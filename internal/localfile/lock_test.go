package localfile

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An abandoned wait continues in the background, and then releases the lock.
func TestLockInTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "lock")
	over := make(chan string, 2)
	unlock, err := LockInTurn(t.Context(), path, func() { over <- "first" })
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = LockInTurn(ctx, path, func() { over <- "second" })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, over, "the wait continues")
	unlock()
	require.ElementsMatch(t, []string{"first", "second"}, []string{<-over, <-over})
	unlock, err = LockInTurn(t.Context(), path, func() {})
	require.NoError(t, err)
	unlock()
}

// A waiting caller gets the lock before the caller that has just released it.
func TestLockInTurnIsFair(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	none := func() {}
	unlock, err := LockInTurn(t.Context(), path, none)
	require.NoError(t, err)
	order := make(chan string, 2)
	go func() {
		unlock, err := LockInTurn(t.Context(), path, none)
		assert.NoError(t, err)
		order <- "waiter"
		unlock()
	}()
	require.Eventually(t, func() bool {
		next := flock.New(path + ".next")
		defer next.Close()
		free, err := next.TryLock()
		return err == nil && !free
	}, time.Minute, time.Millisecond)
	unlock()
	unlock, err = LockInTurn(t.Context(), path, none)
	require.NoError(t, err)
	order <- "previous owner"
	unlock()
	require.Equal(t, []string{"waiter", "previous owner"}, []string{<-order, <-order})
}

func TestLockInTurnFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	over := make(chan bool, 1)
	_, err := LockInTurn(t.Context(), filepath.Join(file, "lock"), func() { over <- true })
	require.Error(t, err)
	require.True(t, <-over)
}

func TestTryLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "lock")
	unlock, locked, err := TryLock(path)
	require.NoError(t, err)
	require.True(t, locked)
	_, again, err := TryLock(path)
	require.NoError(t, err)
	require.False(t, again)
	unlock()
	unlock, locked, err = TryLock(path)
	require.NoError(t, err)
	require.True(t, locked)
	unlock()
	_, locked, err = TryLock(filepath.Dir(path))
	require.Error(t, err)
	require.False(t, locked)
}
