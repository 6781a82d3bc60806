package conversation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// The default and the smallest age after which a [Store] removes a conversation.
const (
	DefaultMaxAge = 30 * 24 * time.Hour
	MinMaxAge     = time.Hour
)

// Store keeps the last conversation of each directory in files that only this user can read. Several processes may use
// the same store. It is safe for concurrent use. Use [OpenStore].
type Store struct {
	dir    string
	maxAge time.Duration
	now    func() time.Time
}

// DefaultDir returns the directory of this user's store: clichain/conversations in $XDG_STATE_HOME or ~/.local/state;
// on Windows in %LocalAppData%.
func DefaultDir() (string, error) {
	dir, err := localfile.StateDir()
	if err != nil {
		return "", fmt.Errorf("conversation: %w", err)
	}
	return filepath.Join(dir, "conversations"), nil
}

// OpenStore returns the store in a directory, which must be an absolute path. An empty dir means DefaultDir. The first
// lock creates the directory, which only this user can enter. The store removes a conversation that was last saved more
// than maxAge ago. A zero maxAge means DefaultMaxAge; the smallest value is MinMaxAge.
func OpenStore(dir string, maxAge time.Duration) (*Store, error) {
	if dir == "" {
		var err error
		if dir, err = DefaultDir(); err != nil {
			return nil, err
		}
	}
	if maxAge == 0 {
		maxAge = DefaultMaxAge
	}
	switch {
	case !filepath.IsAbs(dir):
		return nil, fmt.Errorf("conversation: the directory of the store, %q, is not an absolute path", dir)
	case maxAge < MinMaxAge:
		return nil, fmt.Errorf("conversation: the maximum age is %v; use at least %v", maxAge, MinMaxAge)
	}
	return &Store{dir: dir, maxAge: maxAge, now: time.Now}, nil
}

// poll is the interval at which Lock tries to get the lock.
const poll = 50 * time.Millisecond

// Lock returns the entry of a directory as soon as no other process, and no other Entry of this process, has it locked.
// ctx limits the wait; the error then wraps its cause. Unlock the entry after use. Two of 4096 directories may share a
// lock.
func (s *Store) Lock(ctx context.Context, dir string) (*Entry, error) {
	e, err := s.Read(dir)
	if err != nil {
		return nil, err
	}
	e.unlock, err = localfile.Lock(ctx, filepath.Join(s.dir, filepath.Base(e.path)[:3]+".lock"), poll)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("conversation: another process uses the conversation of %s: %w", e.dir, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("conversation: the conversation of %s cannot be locked: %w", e.dir, err)
	}
	return e, nil
}

// Read returns the entry of a directory without a lock. Its Save fails.
func (s *Store) Read(dir string) (*Entry, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = localfile.MakeOwnDir(s.dir)
	}
	real := ""
	if err == nil {
		real, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("conversation: %w", err)
	}
	hash := sha256.Sum256([]byte(real))
	return &Entry{store: s, dir: dir, path: filepath.Join(s.dir, hex.EncodeToString(hash[:])+".json")}, nil
}

// clean removes the old conversations of all directories. It looks for them rarely, because there may be many.
func (s *Store) clean() {
	now, marker := s.now(), filepath.Join(s.dir, "cleaned")
	if info, err := os.Lstat(marker); err == nil && now.Sub(info.ModTime()).Abs() < s.maxAge/24 {
		return
	}
	if file, err := os.OpenFile(marker, os.O_CREATE|os.O_WRONLY, 0o600); err != nil || file.Close() != nil {
		return
	}
	_ = os.Chtimes(marker, now, now) // without it, the next Save looks again
	files, _ := localfile.List(s.dir, 0)
	for _, file := range files {
		if strings.HasSuffix(strings.TrimSuffix(file.Name(), ".new"), ".json") {
			localfile.RemoveOld(filepath.Join(s.dir, file.Name()), now.Add(-s.maxAge))
		}
	}
}

var errNotLocked = errors.New("conversation: the entry is not locked")
