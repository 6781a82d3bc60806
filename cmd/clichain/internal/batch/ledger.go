package batch

import (
	"crypto/sha256"
	"sync"
)

// ledger knows which ids were read, which are done, and which wait for their result. Of those that do not wait it holds
// a hash each, so that a long input takes little memory.
type ledger struct {
	mu      sync.Mutex
	ids     map[hash]state
	waiting map[string]struct{}
}

type hash [16]byte

type state uint8

const (
	stateRead state = 1 << iota // the input has it
	stateDone                   // the output has it
)

func newLedger() *ledger {
	return &ledger{ids: map[hash]state{}, waiting: map[string]struct{}{}}
}

func hashOf(id string) hash {
	sum := sha256.Sum256([]byte(id))
	return hash(sum[:16])
}

// done notes that the output has the id. It reports whether that is news.
func (l *ledger) done(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(id)
	before := l.ids[h]
	l.ids[h] = before | stateDone
	delete(l.waiting, id)
	return before&stateDone == 0
}

// read notes that the input has the id, and says what was known of it before.
func (l *ledger) read(id string) (before state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashOf(id)
	before = l.ids[h]
	l.ids[h] = before | stateRead
	return before
}

// wait notes that a result is to come.
func (l *ledger) wait(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[id] = struct{}{}
}

// forgo takes that back. It reports whether the id waited.
func (l *ledger) forgo(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, waited := l.waiting[id]
	delete(l.waiting, id)
	return waited
}

// of says what is known of an id.
func (l *ledger) of(id string) (isDone, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, waits = l.waiting[id]
	return l.ids[hashOf(id)]&stateDone != 0, waits
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
