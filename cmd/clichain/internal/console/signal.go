package console

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// SignalError is the cause of a context that a signal canceled.
type SignalError struct{ Signal os.Signal }

// Error names the signal.
func (e *SignalError) Error() string { return "ended by a signal: " + e.Signal.String() }

// Status returns the exit code that shells expect: 130 after Ctrl-C, 143 after SIGTERM.
func (e *SignalError) Status() int {
	if number, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return ExitInterrupted
}

// WithSignals cancels the context at the first signal. It ignores later signals, because the library needs a limited
// time to end every process that it started.
func WithSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	// SIGPIPE is caught, because a reader that leaves would kill this process before it has cleaned up. It is not
	// ignored, because the CLIs would inherit that.
	watched := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		watched = append(watched, syscall.SIGHUP)
	}
	signal.Notify(signals, watched...)
	go func() {
		for s := range signals {
			if s != syscall.SIGPIPE {
				cancel(&SignalError{s})
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}
