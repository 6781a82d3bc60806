// Package runs lists the calls that are in progress, so that other parts of a program can stop them. It knows
// no CLI by name and starts no process. It stops a call only through the cancel func of that call.
package runs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Registry records the calls that are in progress, including queued calls, so that another part of the program
// can list and stop them: a "stop" button, or a periodic cleanup. The methods may be called from any goroutine,
// including from a loop over the events of a registered call. Assign it to Config.Registry of any number of
// backends. The zero value works; it is safe for concurrent use and must not be copied.
type Registry struct {
	mu      sync.Mutex
	runs    map[*entry]struct{}
	aborted map[string]bool
}

// Run is one call in a [Registry].
type Run struct {
	Key, Label string    // from [WithKey]; empty without WithKey
	Backend    string    // the name of the spec
	Started    time.Time // when its process started; for a queued call, when the call began
	Queued     bool      // the call has no process now: it waits for a slot, or between two attempts
}

type entry struct {
	Run
	registry *Registry
	stop     context.CancelCauseFunc
	gone     chan struct{} // closed when the whole process tree has ended
}

// ErrAborted is wrapped by the error of a run that a [Registry] stopped. The Reason of that error is canceled.
var ErrAborted = errors.New("clichain: aborted through the registry")

type (
	keyOfContext   struct{}
	entryOfContext struct{}
)

// WithKey returns a context whose runs are registered under a key, such as the ID of a chat, and with a label
// for display.
func WithKey(ctx context.Context, key, label string) context.Context {
	return context.WithValue(ctx, keyOfContext{}, Run{Key: key, Label: label})
}

// Enter registers a call of a backend. The call counts as queued until [Begin]. The registry calls stop to end
// the call; stop must also end every wait for the reader of the call's events. Call leave after the whole
// process tree has ended. A nil registry registers nothing.
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

// wallClock returns the wall-clock time without a monotonic reading, which does not advance while the machine
// sleeps.
func wallClock() time.Time { return time.Now().Round(0) }

// Begin records that a process of a registered call is about to start. ctx is the context that Enter returned,
// or derived from it. Call end when the process has ended.
func Begin(ctx context.Context) (end func()) {
	e, ok := ctx.Value(entryOfContext{}).(*entry)
	if !ok {
		return func() {}
	}
	came := e.note(wallClock(), false)
	return func() { e.note(came, true) }
}

// note sets the start time and the queued state, and returns the previous start time.
func (e *entry) note(started time.Time, queued bool) (before time.Time) {
	e.registry.mu.Lock()
	defer e.registry.mu.Unlock()
	before = e.Started
	e.Started, e.Queued = started, queued
	return before
}

// Active returns the registered calls, oldest first.
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

// KillAll stops all calls of a key, including queued calls, with their process trees. It marks the key as
// aborted, even if it has no call. It waits until the calls have ended, which takes a few seconds and at most
// 15, and returns their number.
func (r *Registry) KillAll(key string) int {
	return r.kill(func(run Run) bool { return run.Key == key }, key)
}

// KillAllKeys stops the calls of all keys, and those without a key, as KillAll does. It marks the keys of these
// calls as aborted.
func (r *Registry) KillAllKeys() int { return r.kill(func(Run) bool { return true }) }

// KillStale stops the runs that are older than maxAge, except queued calls, and marks their keys as aborted.
// The age includes time in which the machine slept. KillStale waits as KillAll does, and returns the number of
// stopped runs.
func (r *Registry) KillStale(maxAge time.Duration) int {
	now := wallClock()
	return r.kill(func(run Run) bool { return !run.Queued && now.Sub(run.Started) > maxAge })
}

// killTime limits the wait for stopped calls. A CLI that does not terminate is killed after 2 s. The call waits
// at most 9 s more for its process tree and its output.
const killTime = 15 * time.Second

// kill stops the matching calls, waits until they have ended, and marks their keys and the given keys as
// aborted.
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

// WasAborted reports whether the key was aborted after its last ClearAbort.
func (r *Registry) WasAborted(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.aborted[key]
}

// ClearAbort removes the aborted mark of a key.
func (r *Registry) ClearAbort(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.aborted, key)
}
