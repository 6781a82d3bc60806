// Package runs lists the runs of CLIs that are in progress, so that they can be
// stopped from elsewhere. It knows no CLI by name and starts no process; it ends
// a run only through the cancel func that it was given.
package runs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Registry knows the CLI runs that are in progress, so that another part of the
// program can list and stop them: a "stop" button, or a periodic cleanup. Set
// it as Config.Registry of any number of backends. The zero value works; it is
// safe for concurrent use and must not be copied.
type Registry struct {
	mu      sync.Mutex
	runs    map[*Run]registered
	aborted map[string]bool
}

// Run is one run in a [Registry]. A plain value.
type Run struct {
	Key, Label string    // those given to [WithKey]; empty without
	Backend    string    // the name of the spec
	Started    time.Time // when it was registered, right before its process starts
}

type registered struct {
	stop context.CancelCauseFunc
	gone chan struct{} // closed when the whole process tree has ended
}

// ErrAborted is wrapped by the error of a run that a [Registry] stopped; the
// Reason of that error is canceled.
var ErrAborted = errors.New("clichain: aborted through the registry")

type keyOfContext struct{}

// WithKey returns a context whose runs are registered under a key, such as the
// id of a chat, and with a label for people.
func WithKey(ctx context.Context, key, label string) context.Context {
	return context.WithValue(ctx, keyOfContext{}, Run{Key: key, Label: label})
}

// Enter registers a run of a backend; KillAll and KillStale end it by calling
// stop. Call the returned func when the whole process tree has ended. A nil
// registry registers nothing.
func (r *Registry) Enter(ctx context.Context, backend string, stop context.CancelCauseFunc) (leave func()) {
	if r == nil {
		return func() {}
	}
	run, _ := ctx.Value(keyOfContext{}).(Run)
	// Without the monotonic clock, which stops while the machine sleeps.
	run.Backend, run.Started = backend, time.Now().Round(0)
	entry := registered{stop, make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs == nil {
		r.runs = map[*Run]registered{}
	}
	r.runs[&run] = entry
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.runs, &run)
		close(entry.gone)
	}
}

// Active returns the runs, oldest first.
func (r *Registry) Active() []Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Run, 0, len(r.runs))
	for run := range r.runs {
		list = append(list, *run)
	}
	slices.SortFunc(list, func(a, b Run) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Backend, b.Backend))
	})
	return list
}

// HasActive reports whether a run is registered under the key.
func (r *Registry) HasActive(key string) bool {
	return slices.ContainsFunc(r.Active(), func(run Run) bool { return run.Key == key })
}

// KillAll stops all runs of a key, with their whole process trees, and marks
// the key as aborted, even without a run. It waits until they have ended, which
// takes some seconds at most, and returns their number.
func (r *Registry) KillAll(key string) int {
	return r.kill(func(run Run) bool { return run.Key == key }, key)
}

// KillStale stops the runs that are older than maxAge and marks their keys as
// aborted. Their age includes time in which the machine slept. It waits until
// they have ended, and returns their number.
func (r *Registry) KillStale(maxAge time.Duration) int {
	now := time.Now().Round(0)
	return r.kill(func(run Run) bool { return now.Sub(run.Started) > maxAge })
}

// kill stops the runs that match, waits for their end, and marks their keys and
// the given ones as aborted.
func (r *Registry) kill(match func(Run) bool, keys ...string) int {
	var stopped []registered
	r.mu.Lock()
	for run, entry := range r.runs {
		if match(*run) {
			stopped = append(stopped, entry)
			keys = append(keys, run.Key)
		}
	}
	if r.aborted == nil {
		r.aborted = map[string]bool{}
	}
	for _, key := range keys {
		r.aborted[key] = true
	}
	r.mu.Unlock()
	for _, entry := range stopped {
		entry.stop(ErrAborted)
	}
	for _, entry := range stopped {
		<-entry.gone // bounded: a run is killed if it does not end by itself
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
