package proc

import "time"

// tree is a started program with all that it starts, as far as one operating system lets us see and end it. The rest of
// the package is the same everywhere. All methods are called from one goroutine.
type tree interface {
	// pid is that of the program.
	pid() int
	// exited is closed when the program has ended. It has not been reaped then, so its id is still its own.
	exited() <-chan struct{}
	// remember takes note of the processes that belong to the tree now. Once their parents are gone it may be impossible
	// to tell.
	remember()
	// ask sends the tree the given polite signal.
	ask(softSignal)
	// sweep kills everything, and returns when the program has ended and nothing else is left, or patience is over.
	sweep(patience time.Duration) swept
	// reap releases the program after it has exited and returns its status.
	reap() status
}

// softSignal is a signal that asks for an end.
type softSignal string

const (
	interrupt softSignal = "SIGINT"
	terminate softSignal = "SIGTERM"
)

// swept is the outcome of a sweep.
type swept struct {
	clean     bool // nothing is left
	leftovers int  // processes besides the program that were found alive
}

// status is how the program ended.
type status struct {
	code   int    // -1 if a signal ended it
	signal string // its name
	lost   bool   // somebody else has reaped it
}
