package batch

import (
	"crypto/sha256"
	"sync"
)

// ledger knows which ids were read, which are done, and which wait for their result. Of those that do not wait it holds
// a hash each, so that a long input takes little memory.
type ledger struct {
	mu      sync.Mutex
	ids     map[hash]mark
	waiting map[string]digest // of what is asked
	copies  map[hash]int      // lines without an id, by their content
}

type hash [16]byte

// mark is what is known of an id.
type mark struct {
	state state
	asked digest // of the record; zero: not known
}

type state uint8

const (
	stateRead   state = 1 << iota // the input has it
	stateDone                     // the output has it
	stateFailed                   // and it is a failure
	stateRedo                     // the output has it, and it is asked again
)

func newLedger() *ledger {
	return &ledger{ids: map[hash]mark{}, waiting: map[string]digest{}, copies: map[hash]int{}}
}

func hashOf(id string) hash {
	sum := sha256.Sum256([]byte(id))
	return hash(sum[:16])
}

// done notes that the output has the record. It reports whether that is news.
func (l *ledger) done(r *Record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(r.ID)
	before := l.ids[h]
	now := mark{before.state&^stateFailed | stateDone, r.Asked}
	if r.Error != nil {
		now.state |= stateFailed
	}
	l.ids[h] = now
	delete(l.waiting, r.ID)
	return before.state&stateDone == 0
}

// redo notes that an id is to be asked again though the output has it.
func (l *ledger) redo(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(id)
	before := l.ids[h]
	l.ids[h] = mark{before.state&^stateDone | stateRedo, before.asked}
}

// read notes that the input has the id, and says what was known of it before.
func (l *ledger) read(id string) (before mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(id)
	before = l.ids[h]
	l.ids[h] = mark{before.state | stateRead, before.asked}
	return before
}

// copyOf counts the lines with the same content, this one included.
func (l *ledger) copyOf(content hash) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.copies[content]++
	return l.copies[content]
}

// wait notes that a result is to come.
func (l *ledger) wait(id string, asked digest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[id] = asked
}

// forgo takes that back. It reports whether the id waited.
func (l *ledger) forgo(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, waited := l.waiting[id]
	delete(l.waiting, id)
	return waited
}

// of says what is known of an id, and what it waits for, if it does.
func (l *ledger) of(id string) (known mark, asked digest, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked, waits = l.waiting[id]
	return l.ids[hashOf(id)], asked, waits
}

// pending are the ids that wait.
func (l *ledger) pending() (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.waiting {
		ids = append(ids, id)
	}
	return ids
}

// first is one of the ids that wait.
func (l *ledger) first() (id string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.waiting {
		return id, true
	}
	return "", false
}

func (l *ledger) waits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}
