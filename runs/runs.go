// Package runs lists the calls of CLIs that are in progress, so that they can be
// stopped from elsewhere. It knows no CLI by name and starts no process; it ends
// a call only through the cancel func that it was given.
package runs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Registry knows the calls of CLIs that are in progress, those that wait for
// their turn too, so that another part of the program can list and stop them: a
// "stop" button, or a periodic cleanup. Its methods may be called from anywhere,
// also from a loop over the events of such a call. Set
// it as Config.Registry of any number of backends. The zero value works; it is
// safe for concurrent use and must not be copied.
type Registry struct {
	mu      sync.Mutex
	runs    map[*entry]struct{}
	aborted map[string]bool
}

// Run is one call in a [Registry]. A plain value.
type Run struct {
	Key, Label string    // those given to [WithKey]; empty without
	Backend    string    // the name of the spec
	Started    time.Time // right before its process started; while it is queued, when the call came
	Queued     bool      // no process of it runs: it waits for its turn, or between two attempts
}

type entry struct {
	Run
	registry *Registry
	stop     context.CancelCauseFunc
	gone     chan struct{} // closed when the whole process tree has ended
}

// ErrAborted is wrapped by the error of a run that a [Registry] stopped; the
// Reason of that error is canceled.
var ErrAborted = errors.New("clichain: aborted through the registry")

type (
	keyOfContext   struct{}
	entryOfContext struct{}
)

// WithKey returns a context whose runs are registered under a key, such as the
// id of a chat, and with a label for people.
func WithKey(ctx context.Context, key, label string) context.Context {
	return context.WithValue(ctx, keyOfContext{}, Run{Key: key, Label: label})
}

// Enter registers a call of a backend, as one that is queued until [Begin]. It
// is ended by calling stop, which must also end all waiting for the reader of
// its events. Call leave when the whole process tree has ended. A nil registry
// registers nothing.
func (r *Registry) Enter(
	ctx context.Context, backend string, stop context.CancelCauseFunc,
) (_ context.Context, leave func()) {
	if r == nil {
		return ctx, func() {}
	}
	e := &entry{registry: r, stop: stop, gone: make(chan struct{})}
	e.Run, _ = ctx.Value(keyOfContext{}).(Run)
	e.Backend, e.Started, e.Queued = backend, wallClock(), true
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs == nil {
		r.runs = map[*entry]struct{}{}
	}
	r.runs[e] = struct{}{}
	return context.WithValue(ctx, entryOfContext{}, e), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.runs, e)
		close(e.gone)
	}
}

// wallClock goes on while the machine sleeps, which the monotonic one does not.
func wallClock() time.Time { return time.Now().Round(0) }

// Begin notes that a process of a registered call is about to start. ctx is that
// of Enter, or one below. Call end when the process has ended.
func Begin(ctx context.Context) (end func()) {
	e, ok := ctx.Value(entryOfContext{}).(*entry)
	if !ok {
		return func() {}
	}
	came := e.note(wallClock(), false)
	return func() { e.note(came, true) }
}

// note sets what Begin changes, and returns the time that was there.
func (e *entry) note(started time.Time, queued bool) (before time.Time) {
	e.registry.mu.Lock()
	defer e.registry.mu.Unlock()
	before = e.Started
	e.Started, e.Queued = started, queued
	return before
}

// Active returns the calls, oldest first.
func (r *Registry) Active() []Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Run, 0, len(r.runs))
	for e := range r.runs {
		list = append(list, e.Run)
	}
	slices.SortFunc(list, func(a, b Run) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Backend, b.Backend))
	})
	return list
}

// HasActive reports whether a call is registered under the key.
func (r *Registry) HasActive(key string) bool {
	return slices.ContainsFunc(r.Active(), func(run Run) bool { return run.Key == key })
}

// KillAll stops all calls of a key, with their whole process trees and those
// that are queued, and marks the key as aborted, even without a call. It waits
// until they have ended, which takes some seconds, and 15 at most, and returns
// their number.
func (r *Registry) KillAll(key string) int {
	return r.kill(func(run Run) bool { return run.Key == key }, key)
}

// KillAllKeys does what KillAll does with the calls of all keys, and with those
// that have none. It marks the keys of these calls as aborted.
func (r *Registry) KillAllKeys() int { return r.kill(func(Run) bool { return true }) }

// KillStale stops the runs that are older than maxAge, queued calls excepted,
// and marks their keys as aborted. Their age includes time in which the machine
// slept. It waits as KillAll does, and returns their number.
func (r *Registry) KillStale(maxAge time.Duration) int {
	now := wallClock()
	return r.kill(func(run Run) bool { return !run.Queued && now.Sub(run.Started) > maxAge })
}

// killTime bounds the wait for what was stopped: a CLI that does not end is
// killed after two seconds, and its tree and its output are given up after nine
// more.
const killTime = 15 * time.Second

// kill stops the calls that match, waits for their end, and marks their keys and
// the given ones as aborted.
func (r *Registry) kill(match func(Run) bool, keys ...string) int {
	var stopped []*entry
	r.mu.Lock()
	for e := range r.runs {
		if match(e.Run) {
			stopped = append(stopped, e)
			keys = append(keys, e.Key)
		}
	}
	if r.aborted == nil {
		r.aborted = map[string]bool{}
	}
	for _, key := range keys {
		r.aborted[key] = true
	}
	r.mu.Unlock()
	for _, e := range stopped {
		e.stop(ErrAborted)
	}
	limit := time.NewTimer(killTime)
	defer limit.Stop()
	for _, e := range stopped {
		select {
		case <-e.gone:
		case <-limit.C:
			return len(stopped)
		}
	}
	return len(stopped)
}

// WasAborted reports whether the key was aborted since its last ClearAbort.
func (r *Registry) WasAborted(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.aborted[key]
}

// ClearAbort removes the mark of a key.
func (r *Registry) ClearAbort(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.aborted, key)
}
