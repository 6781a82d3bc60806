package localfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func nothing() error { return nil }

// An abandoned wait continues in the background, and then releases the lock.
func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "lock")
	other, turns := NewTurns(path), NewTurns(path)
	require.False(t, Turns{}.Valid())
	require.True(t, turns.Valid())
	unlock, err := other.Lock(t.Context(), nothing)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	for range 2 { // one wait for the file, and one for that wait
		_, err = turns.Lock(ctx, nothing)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, turns.busy, 1, "the wait continues")
	}
	unlock()
	unlock, err = turns.Lock(t.Context(), nothing)
	require.NoError(t, err)
	unlock()
}

// A waiting process gets the lock before the process that has just released it.
func TestTurnsAreFair(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := NewTurns(path).Lock(t.Context(), nothing)
	require.NoError(t, err)
	order := make(chan string, 2)
	go func() {
		unlock, err := NewTurns(path).Lock(t.Context(), nothing)
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
	unlock, err = NewTurns(path).Lock(t.Context(), nothing)
	require.NoError(t, err)
	order <- "previous owner"
	unlock()
	require.Equal(t, []string{"waiter", "previous owner"}, []string{<-order, <-order})
}

func TestTurnsFailures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	turns, refused := NewTurns(filepath.Join(file, "lock")), errors.New("refused")
	for range 2 { // a failure leaves the lock free
		_, err := turns.Lock(t.Context(), nothing)
		require.Error(t, err)
		_, err = turns.Lock(t.Context(), func() error { return refused })
		require.ErrorIs(t, err, refused)
	}
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
