package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/semaphore"
)

const (
	// renewBefore is how long before its expiry a CLI may renew a credential.
	renewBefore = 5 * time.Minute
	// maxGateWait limits the wait for another call that renews a credential.
	maxGateWait = 10 * time.Second
	// gatePoll is the interval at which Gate tries the lock of another process.
	gatePoll = 20 * time.Millisecond
)

// gates serializes the calls of this process that may renew the same credential. It maps the path of the
// credential to a semaphore with one slot.
var gates sync.Map

// Gate admits one call at a time while a credential is about to be renewed, because CLIs that renew it at the
// same time can log each other out. It waits for at most ten seconds, or half of limit if that is less. If Gate
// cannot get the lock in that time, it admits the call without the lock. Call release to admit the next call;
// it may be called more than once. Gate is safe for concurrent use.
func (s *Prober) Gate(ctx context.Context, l Login, limit time.Duration) (release func()) {
	if !l.renewable.due() {
		return func() {}
	}
	wait := maxGateWait
	if limit > 0 {
		wait = min(wait, limit/2) // keep the rest for the call
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	gate, _ := gates.LoadOrStore(l.renewable.path, make(semaphore.Semaphore, 1))
	leave, err := gate.(semaphore.Semaphore).Acquire(ctx)
	if err != nil {
		return func() {}
	}
	unlock := lockCredential(ctx, l.renewable.path)
	release = sync.OnceFunc(func() { unlock(); leave() })
	if !s.again(l.renewable).due() {
		release() // another call has renewed the credential
	}
	return release
}

// due reports whether the CLI would renew the credential now.
func (c credential) due() bool { return c.renews && c.expired(time.Now().Add(renewBefore)) }

// facts yields the files of all ways to log in.
func (s *Prober) facts(yield func(*compiledFact) bool) {
	for _, way := range s.ways {
		for i := range way.files {
			if !yield(&way.files[i]) {
				return
			}
		}
	}
}

// Places returns the places of logins in the order of the spec: the paths of files outside the working directory, and
// patterns of environment variables.
func (s *Prober) Places(at grammar.Place) (files, variables []string) {
	for _, way := range s.ways {
		variables = append(append(variables, way.With...), way.Env...)
	}
	return s.ownFiles(at), variables
}

// Mark returns a hash of the credentials in the files, so that another login has another mark. The hash does
// not reveal secrets.
func (s *Prober) Mark(at grammar.Place) string {
	h := sha256.New()
	renewed := s.renewed(at)
	for f := range s.facts {
		paths, _ := f.template.Paths(at)
		for _, path := range paths {
			told := s.files.read(f, path)
			switch {
			case told.known == absent: // the file and its absence count the same
				continue
			case told.mark == "" && renewed[path]: // another fact has a mark for this file
				continue
			case told.mark == "":
				told.mark = fmt.Sprint(told.stamp)
			}
			_, _ = fmt.Fprintf(h, "%q %d %s\n", path, told.known, told.mark) // a hash never fails
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// renewed returns the files with a credential that the CLI renews.
func (s *Prober) renewed(at grammar.Place) map[string]bool {
	files := map[string]bool{}
	for f := range s.facts {
		if f.Refresh != "" {
			paths, _ := f.template.Paths(at)
			for _, path := range paths {
				files[path] = true
			}
		}
	}
	return files
}

func (s *Prober) again(old credential) credential {
	for f := range s.facts {
		if told := s.files.read(f, old.path); f.Refresh != "" && told.renews {
			return told
		}
	}
	return old
}

// lockCredential waits for the lock that other processes use for the same credential.
func lockCredential(ctx context.Context, credential string) (unlock func()) {
	if dir, err := localfile.CacheDir(); err == nil {
		sum := sha256.Sum256([]byte(credential))
		path := filepath.Join(dir, "login-"+hex.EncodeToString(sum[:8])+".lock")
		if unlock, err := localfile.Lock(ctx, path, gatePoll); err == nil {
			return unlock
		}
	}
	return func() {}
}

// Gated returns a func that passes events to emit. It calls release at the first output of the model, because
// the credential is then valid or has been renewed.
func Gated(emit func(call.Event), release func()) func(call.Event) {
	return func(e call.Event) {
		switch e.Kind {
		case call.EventDelta, call.EventText, call.EventThinking, call.EventToolUse, call.EventUsage:
			release()
		}
		emit(e)
	}
}
