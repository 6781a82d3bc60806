package live

import (
	"fmt"
	"time"

	"github.com/clichain/clichain"
)

// State is a state of a [Session].
type State string

// The states. Start changes Created to Starting, and the session is Running when its CLI is ready. Pause and
// Resume change between Running and Paused. Stop or Kill changes a started session to Stopping. The final state is
// Stopped, or Error if the CLI could not start or ended on its own.
const (
	Created  State = "created"
	Starting State = "starting"
	Running  State = "running"
	Paused   State = "paused"
	Stopping State = "stopping"
	Stopped  State = "stopped"
	Error    State = "error"
)

// Over reports whether the state is one of the two final states.
func (s State) Over() bool { return s == Stopped || s == Error }

// StateError is the error of a method that is not allowed in the current state of a [Session].
type StateError struct {
	Op    string // the method, in lower case
	State State
}

// Error includes the method and the state.
func (e *StateError) Error() string { return fmt.Sprintf("live: %s: the session is %s", e.Op, e.State) }

// allowed are the states in which each method is allowed. In other states the method returns an error.
var allowed = map[string][]State{
	"start":     {Created},
	"send":      {Running, Paused},
	"pause":     {Running},
	"resume":    {Paused},
	"interrupt": {Running, Paused},
	"clear":     {Running, Paused},
}

// Status describes the current state of a session.
type Status struct {
	State   State
	Since   time.Time // when the session entered the state
	Backend string
	Queued  int            // turns that have not begun
	Busy    bool           // a turn is in flight
	Turns   int            // turns that have ended
	Usage   clichain.Usage // of answered turns, and of a probe of the breaker
	// Session is the session of the latest answer, as in Response.Session. A later session can continue it.
	// Empty means unknown.
	Session string
	Err     error // the cause of the state Error, else nil
}

// Status returns the current status.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{
		State: s.state, Since: s.since, Backend: s.provider.Name(), Queued: len(s.queue), Busy: s.now != nil,
		Turns: s.turns, Usage: s.usage, Session: s.session, Err: s.err,
	}
}
