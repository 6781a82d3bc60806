package proc

import (
	"errors"
	"fmt"
	"time"
)

// Result is how a run went.
type Result struct {
	// Cause is why the run was stopped, and nil if the program ended by itself. It outranks ExitCode and Signal: many
	// programs exit with status 0 when they are interrupted. It is the cause of the context if that was done before the
	// program's exit was seen; or what a Writer returned, a *PanicError, or ErrOutputLimit, whenever that happened; or
	// ErrKilled; or ErrReapLost.
	Cause error
	// ExitCode is the exit status, -1 if there is none because a signal ended the program.
	ExitCode int
	// Signal is the signal that ended the program, such as "SIGKILL", or empty. With a nil Cause it came from elsewhere:
	// SIGKILL is then most often the kernel out of memory.
	Signal string

	// SoftSignal is the last polite signal that was sent, such as "SIGINT", or empty.
	SoftSignal string
	// Escalated reports that the program had to be killed.
	Escalated bool
	// TreeClean reports that no process of the run is left, as far as this system can tell.
	TreeClean bool
	// Leftovers is the number of processes that were still running when the program itself had ended, or had to be
	// killed. They were killed if TreeClean.
	Leftovers int

	// Undelivered reports that the program had not read all of Command.Stdin when it ended or, if Run stopped it, when Run
	// began to do so. On Windows, bytes in the pipe count as read. Undelivered is false for a run without Stdin.
	Undelivered bool
	// Untouched reports that the program had read nothing at all of Stdin by then. It is false where that is not known.
	Untouched bool
	// DrainCut reports that output was still open, or a Writer had not returned, when the time to drain was over.
	DrainCut bool
	// Stdout and Stderr are what was kept of the output.
	Stdout, Stderr Capture

	Pid      int // of the program
	Started  time.Time
	Duration time.Duration // until the program was reaped
}

// The causes for which Run stops a program by itself.
var (
	// ErrOutputLimit means that the program wrote more than Command.Limit.
	ErrOutputLimit = errors.New("proc: output limit exceeded")
	// ErrKilled means that Command.Kill was closed and nothing else had stopped the run before.
	ErrKilled = errors.New("proc: killed on request")
	// ErrReapLost means that other code in this process has reaped the program, and its exit status with it.
	ErrReapLost = errors.New("proc: exit status was taken by another waiter in this process")
)

// PanicError is the cause of a run that was stopped because a Writer panicked.
type PanicError struct {
	Value any    // what the Writer panicked with
	Stack []byte // of the goroutine that called it
}

// Error names the value that the Writer panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("proc: writer panicked: %v", e.Value) }
