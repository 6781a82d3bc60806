package live

import "fmt"

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
