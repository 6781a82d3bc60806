package batch

import (
	"crypto/sha256"
	"sync"
)

// ledger tracks the ids that were read, that have a record, and that wait for a result. It stores only a hash of each
// id that does not wait, so that a long input needs little memory. It is safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	ids     map[hash]mark
	waiting map[string]Digest // the request of each waiting id
}

type hash [16]byte

// mark is the state of an id.
type mark struct {
	state state
	asked Digest // the request of the record; zero: not known
}

type state uint8

const (
	stateRead   state = 1 << iota // the input contains the id
	stateDone                     // the output contains a record of the id
	stateFailed                   // the record is a failure
	stateRedo                     // the output contains a record of the id, but the line is retried
)

func newLedger() *ledger { return &ledger{ids: map[hash]mark{}, waiting: map[string]Digest{}} }

func hashOf(id string) hash {
	sum := sha256.Sum256([]byte(id))
	return hash(sum[:16])
}

// done records that an id has a record. It reports whether the id had none before.
func (l *ledger) done(id string, asked Digest, failed bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(id)
	before := l.ids[h]
	now := mark{before.state&^stateFailed | stateDone, asked}
	if failed {
		now.state |= stateFailed
	}
	l.ids[h] = now
	delete(l.waiting, id)
	return before.state&stateDone == 0
}

// redo records that an id is retried although the output has its record.
func (l *ledger) redo(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(id)
	before := l.ids[h]
	l.ids[h] = mark{before.state&^stateDone | stateRedo, before.asked}
}

// read records that the input contains an id, and returns the previous state of the id.
func (l *ledger) read(id string) (before mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(id)
	before = l.ids[h]
	l.ids[h] = mark{before.state | stateRead, before.asked}
	return before
}

// wait records that an id waits for the result of a request.
func (l *ledger) wait(id string, asked Digest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[id] = asked
}

// forgo ends the wait for the result of an id.
func (l *ledger) forgo(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, id)
}

// of returns the state of an id, and the request whose result it waits for.
func (l *ledger) of(id string) (known mark, asked Digest, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked, waits = l.waiting[id]
	return l.ids[hashOf(id)], asked, waits
}

// pending returns the ids that wait for a result.
func (l *ledger) pending() (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.waiting {
		ids = append(ids, id)
	}
	return ids
}

// first returns any id that waits for a result.
func (l *ledger) first() (id string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.waiting {
		return id, true
	}
	return "", false
}

// waits reports whether any id waits for a result.
func (l *ledger) waits() bool {
	_, waits := l.first()
	return waits
}
