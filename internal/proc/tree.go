package proc

import "time"

// reapTimeout limits the wait for the notification of an exit that the sweep has already seen.
const reapTimeout = time.Second

// tree is a started program with its descendants. Each operating system has its own implementation. One goroutine calls
// all methods.
type tree interface {
	// pid is the process id of the program.
	pid() int
	// exited is closed when the program has ended. The program is not reaped yet, so its id cannot be reused.
	exited() <-chan struct{}
	// remember records the processes that belong to the tree now. After their parents have ended, the system may not tell
	// which tree they belong to.
	remember()
	// ask sends the signal to the tree.
	ask(softSignal)
	// sweep kills all processes of the tree. It returns when the program and its descendants have ended, or after limit.
	sweep(limit time.Duration) swept
	// reap reaps the program, which has exited, and returns its status.
	reap() status
}

// softSignal is a signal that a program can handle.
type softSignal string

const (
	interrupt softSignal = "SIGINT"
	terminate softSignal = "SIGTERM"
)

// swept is the result of a sweep.
type swept struct {
	clean     bool // no process is left
	leftovers int  // live processes besides the program
}

// status is how the program ended.
type status struct {
	code   int    // -1 if a signal ended the program
	signal string // its name
	lost   bool   // other code in this process has reaped the program
}
