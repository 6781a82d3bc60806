package batch

import (
	"crypto/sha256"
	"sync"
)

// ledger knows which ids were read, which have a record, and which wait for a result. It holds a hash of each id that
// does not wait, so that a long input takes little memory. Safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	ids     map[hash]mark
	waiting map[string]Digest // of the request
}

type hash [16]byte

// mark is the state of an id.
type mark struct {
	state state
	asked Digest // of the record; zero: not known
}

type state uint8

const (
	stateRead   state = 1 << iota // the input has the id
	stateDone                     // the output has its record
	stateFailed                   // the record is a failure
	stateRedo                     // the output has its record, and the line is asked again
)

func newLedger() *ledger { return &ledger{ids: map[hash]mark{}, waiting: map[string]Digest{}} }

func hashOf(id string) hash {
	sum := sha256.Sum256([]byte(id))
	return hash(sum[:16])
}

// done marks an id as one with a record. It reports whether it had none.
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

// redo marks an id as one that is asked again though the output has its record.
func (l *ledger) redo(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(id)
	before := l.ids[h]
	l.ids[h] = mark{before.state&^stateDone | stateRedo, before.asked}
}

// read marks an id as one of the input, and returns its state before.
func (l *ledger) read(id string) (before mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(id)
	before = l.ids[h]
	l.ids[h] = mark{before.state | stateRead, before.asked}
	return before
}

// wait marks an id as one that waits for the result of a request.
func (l *ledger) wait(id string, asked Digest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[id] = asked
}

// forgo ends the wait for a result.
func (l *ledger) forgo(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, id)
}

// of returns the state of an id, and the request for whose result it waits.
func (l *ledger) of(id string) (known mark, asked Digest, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked, waits = l.waiting[id]
	return l.ids[hashOf(id)], asked, waits
}

// pending returns the ids that wait.
func (l *ledger) pending() (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.waiting {
		ids = append(ids, id)
	}
	return ids
}

// first returns one of the ids that wait.
func (l *ledger) first() (id string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.waiting {
		return id, true
	}
	return "", false
}

// waits reports whether an id waits.
func (l *ledger) waits() bool {
	_, waits := l.first()
	return waits
}
