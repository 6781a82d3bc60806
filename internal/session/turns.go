package session

import (
	"context"
	"sync"

	"github.com/clichain/clichain/internal/semaphore"
)

// Turns keeps calls that go on from one session apart: run at once, some CLIs
// lose a turn, and one has both runs answer each other for minutes. A session
// belongs to the machine, so all backends of this process share the turns.
var Turns = sessionTurns{waiting: map[string]*sessionTurn{}}

type sessionTurns struct {
	mu      sync.Mutex
	waiting map[string]*sessionTurn
}

type sessionTurn struct {
	semaphore.Semaphore
	calls int // that have it, or wait for it
}

// Take waits for the turn of a call that goes on from a session. It is bounded
// by the context, and by the timeouts of the calls before it.
func (t *sessionTurns) Take(ctx context.Context, handle string) (release func(), err error) {
	if handle == "" {
		return func() {}, nil
	}
	s, _ := Parse(handle)
	key := s.Backend + ":" + s.ID
	turn := t.join(key)
	free, err := turn.Acquire(ctx)
	if err != nil {
		t.leave(key, turn)
		return nil, err
	}
	return func() { free(); t.leave(key, turn) }, nil
}

func (t *sessionTurns) join(key string) *sessionTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn, ok := t.waiting[key]
	if !ok {
		turn = &sessionTurn{Semaphore: make(semaphore.Semaphore, 1)}
		t.waiting[key] = turn
	}
	turn.calls++
	return turn
}

func (t *sessionTurns) leave(key string, turn *sessionTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn.calls--; turn.calls == 0 {
		delete(t.waiting, key)
	}
}
