package cooldown

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// File keeps cooldowns in a file that all processes of a user share. The file
// is replaced as a whole, so a process that is killed loses nothing that an
// Update had kept. It holds no secrets and is for its owner only. It is safe
// for concurrent use.
type File struct {
	path string
	warn func(error)
	turn chan struct{} // one Update of this process at a time

	mu   sync.Mutex
	told map[string]bool // what the caller was warned of
}

// NewFile makes a store in that file; the folder is made when there is
// something to keep. warn hears, once each, of what a person should know, such
// as a corrupt file that was set aside; nil: nobody does.
func NewFile(path string, warn func(error)) *File {
	if warn == nil {
		warn = func(error) {}
	}
	return &File{path: path, warn: warn, turn: make(chan struct{}, 1), told: map[string]bool{}}
}

const (
	// storeLockWait bounds the wait for another process.
	storeLockWait = 200 * time.Millisecond
	// storePoll is the pause between two looks at the lock.
	storePoll = time.Millisecond
)

// Load reads what is kept under the key. It waits for nobody.
func (s *File) Load(ctx context.Context, key string) (State, error) {
	states, err := s.read()
	if errors.Is(err, errCorrupt) {
		// What is there now may be whole: look again under the lock.
		err = s.locked(ctx, func() error { states, err = s.readOrSetAside(); return err })
	}
	return states[key], s.tell(err)
}

// Update replaces what is kept under the key. It waits 200 ms at most for other
// processes, then it fails.
func (s *File) Update(ctx context.Context, key string, change func(State) State) error {
	return s.tell(s.locked(ctx, func() error {
		states, err := s.readOrSetAside()
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
		return s.write(states)
	}))
}

// tell warns of an error, once, and returns it.
func (s *File) tell(err error) error {
	if err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
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
	ctx, cancel := context.WithTimeout(ctx, storeLockWait)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	unlock, err := localfile.Lock(ctx, s.path+".lock", storePoll) // a file beside, because the file itself is replaced
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}
