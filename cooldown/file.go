package cooldown

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// File is a [Store] in a file that all processes of a user share. Each Update replaces the file atomically, so a
// process that is killed loses no stored state. The file contains no secrets, and only its owner can read it. A File
// is safe for concurrent use; make it with [NewFile].
type File struct {
	path string
	warn func(error)
	busy chan struct{} // full while a call of this process changes the file or waits for its lock

	mu   sync.Mutex
	told map[string]bool // the errors that were passed to warn
}

// NewFile returns a store in the file at path. The first Update creates its directory, but never the home directory.
// The cache directory of clichain must belong to this user and must not be a symbolic link. warn is called once for
// each different problem, such as a corrupt file that was renamed. A nil warn ignores problems.
func NewFile(path string, warn func(error)) *File {
	if warn == nil {
		warn = func(error) {}
	}
	return &File{path: path, warn: warn, busy: make(chan struct{}, 1), told: map[string]bool{}}
}

const (
	// storeLockWait limits the wait for other calls and processes.
	storeLockWait = 200 * time.Millisecond
	// maxStoreFile limits the size of the file; 512 states need far less.
	maxStoreFile = 1 << 20
	// storeVersion is the version of the format. Files of a newer version are not changed.
	storeVersion = 1
)

type storeFile struct {
	Version   int              `json:"version"`
	Cooldowns map[string]State `json:"cooldowns"`
}

var (
	errCorrupt  = errors.New("is corrupt")
	errZeroFile = errors.New("this File has no path: make it with NewFile")
)

// Load returns the State of the key. It waits for the lock only if the file is corrupt.
func (s *File) Load(ctx context.Context, key string) (State, error) {
	states, err := s.load(ctx)
	return states[key], err
}

// States returns all states by key, except stale ones. It waits as Load does.
func (s *File) States(ctx context.Context) (map[string]State, error) {
	states, err := s.load(ctx)
	prune(states, time.Now())
	return states, err
}

func (s *File) load(ctx context.Context) (map[string]State, error) {
	states, err := s.read()
	if errors.Is(err, errCorrupt) {
		// Another process may have replaced it: read again under the lock.
		err = s.locked(ctx, func() error { states, err = s.readOrRename(); return err })
	}
	return states, s.tell(err)
}

// Update replaces the State of the key. It fails if another process holds the lock for 200 ms.
func (s *File) Update(ctx context.Context, key string, change func(State) State) error {
	return s.tell(s.locked(ctx, func() error {
		states, err := s.readOrRename()
		if err != nil {
			return err
		}
		next := change(states[key])
		switch {
		case next == states[key]:
			return nil
		case next == State{}:
			delete(states, key)
		default:
			states[key] = next
		}
		prune(states, time.Now())
		data, err := json.MarshalIndent(storeFile{storeVersion, states}, "", "  ")
		if err != nil {
			return err
		}
		return localfile.Replace(s.path, append(data, '\n'))
	}))
}

// tell reports an error to warn once, and returns it. A canceled wait is not a problem of the file.
func (s *File) tell(err error) error {
	if err == nil || s.warn == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	s.mu.Lock()
	known := s.told[err.Error()]
	s.told[err.Error()] = true
	s.mu.Unlock()
	if !known {
		s.warn(err)
	}
	return err
}

// locked calls do while no other call and no other process changes the file.
func (s *File) locked(ctx context.Context, do func() error) error {
	if s.busy == nil {
		return errZeroFile
	}
	ctx, cancel := context.WithTimeout(ctx, storeLockWait)
	defer cancel()
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.checkDir(); err != nil {
		<-s.busy
		return err
	}
	// A separate file is locked, because the file itself is replaced. If the wait outlasts ctx, busy stays full, so that
	// at most one call of this File waits.
	unlock, err := localfile.LockInTurn(ctx, s.path+".lock", func() { <-s.busy })
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// checkDir creates and checks the directory of the file if it is the cache directory of clichain. Any other directory
// is the responsibility of the caller.
func (s *File) checkDir() error {
	if !localfile.InCacheDir(s.path) {
		return nil
	}
	_, err := localfile.CacheDir()
	return err
}

// read returns the states in the file, or none if there is no file.
func (s *File) read() (map[string]State, error) {
	if s.busy == nil {
		return nil, errZeroFile
	}
	data, err := localfile.Read(s.path, maxStoreFile)
	if err == nil {
		err = s.checkDir()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[string]State{}, nil
	case errors.Is(err, localfile.ErrTooBig):
		return nil, fmt.Errorf("%s %w: %v", s.path, errCorrupt, err)
	case err != nil:
		return nil, err
	case !localfile.Mine(s.path):
		return nil, fmt.Errorf("%s belongs to another user", s.path)
	case len(data) == 0:
		return map[string]State{}, nil
	}
	var kept storeFile
	switch err := json.Unmarshal(data, &kept); {
	case err != nil:
		return nil, fmt.Errorf("%s %w: %v", s.path, errCorrupt, err)
	case kept.Version > storeVersion:
		return nil, fmt.Errorf("%s has format version %d, which is newer than this program", s.path, kept.Version)
	case kept.Cooldowns == nil:
		kept.Cooldowns = map[string]State{}
	}
	return kept.Cooldowns, nil
}

// readOrRename is read for callers that hold the lock. It renames a corrupt file, so that users can examine it.
func (s *File) readOrRename() (map[string]State, error) {
	states, err := s.read()
	if !errors.Is(err, errCorrupt) {
		return states, err
	}
	renamed := s.path + ".corrupt-" + time.Now().UTC().Format("20060102T150405Z")
	if err := localfile.Move(s.path, renamed); err != nil {
		return nil, err
	}
	_ = s.tell(fmt.Errorf("%w; renamed to %s", err, renamed))
	return map[string]State{}, nil
}
