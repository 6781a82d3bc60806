package proc

import (
	"errors"
	"fmt"
	"time"
)

// Result is the result of a run.
type Result struct {
	// Cause is why the run was stopped. It is nil if the program ended by itself. It has precedence over
	// ExitCode and Signal, because many programs exit with code 0 when they are interrupted. It is the cause of
	// the context if the context was done before the exit of the program was seen. It is the error of a Writer,
	// a *PanicError or ErrOutputLimit whenever that occurred. Otherwise it is ErrKilled or ErrReapLost.
	Cause error
	// ExitCode is the exit code, or -1 if a signal ended the program.
	ExitCode int
	// Signal is the name of the signal that ended the program, such as "SIGKILL", or empty. If Cause is nil,
	// Run did not send the signal; SIGKILL is then usually from the kernel, which has run out of memory.
	Signal string

	// SoftSignal is the last soft signal that was sent, such as "SIGINT", or empty.
	SoftSignal string
	// Escalated reports that Run had to kill the program.
	Escalated bool
	// TreeClean reports that no process of the run is left, to the knowledge of this system.
	TreeClean bool
	// Leftovers is the number of processes that were still running when the program had ended or had to be
	// killed. If TreeClean is true, they were killed.
	Leftovers int

	// Undelivered reports that the program had not read all of Command.Stdin when it ended, or when Run began to
	// stop it. On Windows, bytes in the pipe count as read. Undelivered is false for a run without Stdin.
	Undelivered bool
	// Untouched reports that the program had read nothing of Stdin at that time. It is false if that is
	// unknown.
	Untouched bool
	// DrainCut reports that output was still open, or that a Writer had not returned, at the end of
	// Command.Drain.
	DrainCut bool
	// Stdout and Stderr are the captured output.
	Stdout, Stderr Capture

	Pid      int // of the program
	Started  time.Time
	Duration time.Duration // until the program was reaped
}

// The causes with which Run stops a program on its own.
var (
	// ErrOutputLimit means that the program wrote more than Command.Limit.
	ErrOutputLimit = errors.New("proc: output limit exceeded")
	// ErrKilled means that Command.Kill was closed before anything else stopped the run.
	ErrKilled = errors.New("proc: killed on request")
	// ErrReapLost means that other code in this process has reaped the program and received its exit code.
	ErrReapLost = errors.New("proc: other code in this process has received the exit code")
)

// PanicError is the cause of a run that was stopped because a Writer panicked.
type PanicError struct {
	Value any    // the value of the panic
	Stack []byte // of the goroutine that called the Writer
}

// Error includes the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("proc: writer panicked: %v", e.Value) }
