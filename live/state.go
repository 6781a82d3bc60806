package live

import (
	"fmt"
	"time"

	"github.com/clichain/clichain"
)

// State is where a [Session] is in its life.
type State string

// The states. A session goes from Created to Starting by Start, to Running when its
// CLI is ready, to Paused and back by Pause and Resume, to Stopping by Stop or Kill,
// and ends Stopped, or in Error where its CLI could not start or died by itself.
const (
	Created  State = "created"
	Starting State = "starting"
	Running  State = "running"
	Paused   State = "paused"
	Stopping State = "stopping"
	Stopped  State = "stopped"
	Error    State = "error"
)

// Over reports whether the state is one of the two last ones.
func (s State) Over() bool { return s == Stopped || s == Error }

// StateError is the error of a call that a [Session] has no use for in its state.
type StateError struct {
	Op    string // the method
	State State
}

// Error says which call is refused, and in which state.
func (e *StateError) Error() string { return fmt.Sprintf("live: %s: the session is %s", e.Op, e.State) }

// allowed are the states in which a method has an effect. In the others it is an
// error, but for Stop and Kill of a session that is over.
var allowed = map[string][]State{
	"start":     {Created},
	"send":      {Running, Paused},
	"pause":     {Running},
	"resume":    {Paused},
	"interrupt": {Running, Paused},
	"clear":     {Running, Paused},
}

// Status is what is known of a session. A plain value.
type Status struct {
	State   State
	Since   time.Time // when it came into that state
	Backend string
	Queued  int            // turns that have not begun
	Busy    bool           // a turn goes on
	Turns   int            // turns that have ended
	Usage   clichain.Usage // of those that were answered, and of a probe of the breaker
	// Session is the session of the latest answer, as in Response.Session, to go on from
	// when this one is over. Empty: none is known.
	Session string
	Err     error // why it is in Error; nil: it is not
}

// Status says how the session is.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{
		State: s.state, Since: s.since, Backend: s.provider.Name(), Queued: len(s.queue), Busy: s.now != nil,
		Turns: s.turns, Usage: s.usage, Session: s.session, Err: s.err,
	}
}
