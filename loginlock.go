package clichain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"sync"
	"time"
)

const (
	// coldBefore is how long before its end a credential may be renewed.
	coldBefore = 5 * time.Minute
	// maxGateWait bounds the wait for another call that renews a credential.
	maxGateWait = 10 * time.Second
	// gatePoll is the pause between two looks at a lock of another process.
	gatePoll = 20 * time.Millisecond
)

// gates has one for each credential file: calls of this process that may renew
// the same one go in turn.
var gates sync.Map // path → semaphore of one

// Gate lets the first call of a credential that is about to be renewed go
// alone, because CLIs that renew one at the same time can log each other out.
// The returned func lets the others go; it may be called more than once. On any
// trouble with the lock the call goes on without it.
func (s *prober) Gate(ctx context.Context, l login, limit time.Duration) (release func()) {
	if !isCold(l) {
		return func() {}
	}
	wait := maxGateWait
	if limit > 0 {
		wait = min(wait, limit/2) // the rest is for the call
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	gate, _ := gates.LoadOrStore(l.cold.path, make(semaphore, 1))
	leave, err := gate.(semaphore).Acquire(ctx)
	if err != nil {
		return func() {}
	}
	unlock := lockCredential(ctx, l.cold.path)
	release = sync.OnceFunc(func() { unlock(); leave() })
	if now := s.again(l.cold); !isCold(login{cold: now}) {
		release() // another call has renewed it meanwhile
	}
	return release
}

// isCold reports whether the CLI would renew the credential now.
func isCold(l login) bool {
	return l.cold.renews && l.cold.expired(time.Now().Add(coldBefore))
}

// Paths are the files in which a login may be.
func (s *prober) Paths(at place) (paths []string) {
	for i := range s.ways {
		for j := range s.ways[i].files {
			more, _ := s.ways[i].files[j].template.Paths(at)
			paths = append(paths, more...)
		}
	}
	return paths
}

// again reads the credential anew.
func (s *prober) again(old credential) credential {
	for i := range s.ways {
		for j := range s.ways[i].files {
			f := &s.ways[i].files[j]
			if told := s.files.read(f, old.path); f.Refresh != "" && told.renews {
				return told
			}
		}
	}
	return old
}

// lockCredential waits for the lock that other processes heed.
func lockCredential(ctx context.Context, credential string) (unlock func()) {
	unlock = func() {}
	if dir, err := cacheDir(); err == nil {
		sum := sha256.Sum256([]byte(credential))
		path := filepath.Join(dir, "login-"+hex.EncodeToString(sum[:8])+".lock")
		if got, err := lockFile(ctx, path, gatePoll); err == nil {
			unlock = got
		}
	}
	return unlock
}

// gated passes events on, and lets the next call go when the model has said
// something: then the credential was good, or has been renewed.
func gated(emit func(Event), release func()) func(Event) {
	return func(e Event) {
		switch e.Kind {
		case EventDelta, EventText, EventThinking, EventToolUse, EventUsage:
			release()
		}
		emit(e)
	}
}
