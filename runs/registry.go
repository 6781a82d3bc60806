package runs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Registry knows the CLI runs that are going on, so that they can be listed
// and stopped from elsewhere: by a user's "stop" button, or by a janitor. It
// belongs to the caller, who puts it into Config.Registry of any number of
// backends. The zero value works; it is safe for concurrent use and must not
// be copied.
type Registry struct {
	mu      sync.Mutex
	runs    map[*Run]registered
	aborted map[string]bool
}

// Run is one run in a [Registry]. A plain value.
type Run struct {
	// Key and Label are those of [WithKey]; empty without.
	Key, Label string
	// Backend is the name of the spec.
	Backend string
	// Started is when the run was registered, right before its process starts.
	Started time.Time
}

type registered struct {
	stop context.CancelCauseFunc
	gone chan struct{} // closed when nothing of the run is left
}

// ErrAborted is what the error of a run wraps that a [Registry] stopped; its
// Reason is canceled.
var ErrAborted = errors.New("clichain: aborted through the registry")

type keyOfContext struct{}

// WithKey returns a context whose calls are registered under a key, such as
// the id of a chat, with a label for people.
func WithKey(ctx context.Context, key, label string) context.Context {
	return context.WithValue(ctx, keyOfContext{}, Run{Key: key, Label: label})
}

// Enter registers a run of a backend, which stop ends. The returned func must be called when nothing of it
// is left. A nil registry registers nothing.
func (r *Registry) Enter(ctx context.Context, backend string, stop context.CancelCauseFunc) (leave func()) {
	if r == nil {
		return func() {}
	}
	run, _ := ctx.Value(keyOfContext{}).(Run)
	// Without the monotonic clock: it stands still while the machine sleeps.
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

// Active lists the runs, oldest first.
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
// the key as aborted. It returns their number when nothing of them is left,
// which takes some seconds at most.
func (r *Registry) KillAll(key string) int {
	return r.kill(func(run Run) bool { return run.Key == key }, key)
}

// KillStale stops the runs that are older than maxAge on the wall clock, time
// in which the machine slept included, and marks their keys as aborted. It
// returns their number when nothing of them is left.
func (r *Registry) KillStale(maxAge time.Duration) int {
	now := time.Now().Round(0)
	return r.kill(func(run Run) bool { return now.Sub(run.Started) > maxAge })
}

// kill stops the runs that match, and waits for their end. The keys given are
// marked even when they have no run.
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
		<-entry.gone // bounded: a run ends within its grace and teardown
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
