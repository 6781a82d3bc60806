package session

import (
	"context"
	"sync"

	"github.com/clichain/clichain/internal/semaphore"
)

// Turns lets one call at a time resume a session. If two calls resume one session at once, some CLIs lose one of them,
// and with one CLI both runs answer each other for minutes. A session belongs to the machine, so all backends of this
// process share the turns.
var Turns = sessionTurns{waiting: map[string]*sessionTurn{}}

type sessionTurns struct {
	mu      sync.Mutex
	waiting map[string]*sessionTurn
}

type sessionTurn struct {
	semaphore.Semaphore
	calls int // that resume the session or wait for it
}

// Take waits until no other call resumes the session of the handle. It returns at once for an empty handle. Only the
// context limits the wait. Take is safe for concurrent use.
func (t *sessionTurns) Take(ctx context.Context, handle string) (release func(), err error) {
	if handle == "" {
		return func() {}, nil
	}
	turn := t.join(handle)
	free, err := turn.Acquire(ctx)
	if err != nil {
		t.leave(handle, turn)
		return nil, err
	}
	return func() { free(); t.leave(handle, turn) }, nil
}

func (t *sessionTurns) join(handle string) *sessionTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn, ok := t.waiting[handle]
	if !ok {
		turn = &sessionTurn{Semaphore: make(semaphore.Semaphore, 1)}
		t.waiting[handle] = turn
	}
	turn.calls++
	return turn
}

func (t *sessionTurns) leave(handle string, turn *sessionTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn.calls--; turn.calls == 0 {
		delete(t.waiting, handle)
	}
}
