package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signalError is the cause of the context after a signal.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "ended by a signal: " + e.signal.String() }

// status is what shells expect: 130 after Ctrl-C, 143 after SIGTERM.
func (e *signalError) status() int {
	if number, ok := e.signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return exitInterrupted
}

// withSignals ends the context at the first signal. Further ones are taken and
// change nothing: the library needs its time, which is bounded, to end every
// process it started.
func withSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	// Without SIGPIPE here, a reader that leaves would kill this process before
	// it has cleaned up. Ignoring it would be inherited by the CLIs.
	watched := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		watched = append(watched, syscall.SIGHUP)
	}
	signal.Notify(signals, watched...)
	go func() {
		for s := range signals {
			if s != syscall.SIGPIPE {
				cancel(&signalError{s})
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}
