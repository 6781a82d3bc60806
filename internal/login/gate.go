package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/semaphore"
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
func (s *Prober) Gate(ctx context.Context, l Login, limit time.Duration) (release func()) {
	if !isCold(l) {
		return func() {}
	}
	wait := maxGateWait
	if limit > 0 {
		wait = min(wait, limit/2) // the rest is for the call
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	gate, _ := gates.LoadOrStore(l.cold.path, make(semaphore.Semaphore, 1))
	leave, err := gate.(semaphore.Semaphore).Acquire(ctx)
	if err != nil {
		return func() {}
	}
	unlock := lockCredential(ctx, l.cold.path)
	release = sync.OnceFunc(func() { unlock(); leave() })
	if now := s.again(l.cold); !isCold(Login{cold: now}) {
		release() // another call has renewed it meanwhile
	}
	return release
}

// isCold reports whether the CLI would renew the credential now.
func isCold(l Login) bool {
	return l.cold.renews && l.cold.expired(time.Now().Add(coldBefore))
}

// Paths are the files in which a login may be.
func (s *Prober) Paths(at grammar.Place) (paths []string) {
	for i := range s.ways {
		for j := range s.ways[i].files {
			more, _ := s.ways[i].files[j].template.Paths(at)
			paths = append(paths, more...)
		}
	}
	return paths
}

// again reads the credential anew.
func (s *Prober) again(old credential) credential {
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
	if dir, err := localfile.CacheDir(); err == nil {
		sum := sha256.Sum256([]byte(credential))
		path := filepath.Join(dir, "login-"+hex.EncodeToString(sum[:8])+".lock")
		if got, err := localfile.Lock(ctx, path, gatePoll); err == nil {
			unlock = got
		}
	}
	return unlock
}

// Gated passes events on, and lets the next call go when the model has said
// something: then the credential was good, or has been renewed.
func Gated(emit func(call.Event), release func()) func(call.Event) {
	return func(e call.Event) {
		switch e.Kind {
		case call.EventDelta, call.EventText, call.EventThinking, call.EventToolUse, call.EventUsage:
			release()
		}
		emit(e)
	}
}
