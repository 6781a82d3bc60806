package cooldown

import (
	"context"
	"slices"
	"time"
)

// Store keeps which backends rest. [NewMemoryStore] is for one process,
// [NewFileStore] for those of one user; one for a fleet has to be able to
// compare and swap. Keys are opaque and hold no secrets. Implementations must
// be safe for concurrent use.
//
// Resting is an optimisation: an error of a store fails no call, which goes on
// as if nothing were known.
type Store interface {
	// Load returns what is kept under the key; the zero Rest for nothing.
	Load(ctx context.Context, key string) (State, error)
	// Update replaces what is kept under the key by what change makes of it,
	// in one step: no other change comes between. The zero Rest removes it.
	// change may be called more than once, and waits for nothing.
	Update(ctx context.Context, key string, change func(State) State) error
}

// maxStates bounds a store. There is one rest for each backend and credential.
const maxStates = 512

// prune drops what is of no use any more, and the oldest of too many.
func prune(rests map[string]State, now time.Time) {
	var keys []string
	for key, rest := range rests {
		if rest.Stale(now) {
			delete(rests, key)
		} else {
			keys = append(keys, key)
		}
	}
	if len(keys) <= maxStates {
		return
	}
	slices.SortFunc(keys, func(a, b string) int { return rests[a].At.Compare(rests[b].At) })
	for _, key := range keys[:len(keys)-maxStates] {
		delete(rests, key)
	}
}
