package reading

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
)

// Silence ends a run that prints nothing on either stream for too long. Its methods are safe for concurrent use
// by both readers.
type Silence struct {
	idle time.Duration
	stop context.CancelCauseFunc

	mu    sync.Mutex
	first *time.Timer // until the first output
	next  *time.Timer // after the first output
}

// Listen starts the timers: first for the time until the first output, idle for every later silence. Zero means
// no limit.
func Listen(first, idle time.Duration, stop context.CancelCauseFunc) *Silence {
	s := &Silence{idle: idle, stop: stop}
	if first > 0 {
		s.first = s.after(first, call.ReasonFirstOutputTimeout)
	} else if s.idle > 0 {
		s.next = s.after(s.idle, call.ReasonIdleTimeout)
	}
	return s
}

func (s *Silence) after(wait time.Duration, reason call.Reason) *time.Timer {
	return time.AfterFunc(wait, func() { s.stop(&judge.Stop{Reason: reason, After: wait}) })
}

// Heard records output.
func (s *Silence) Heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != nil {
		s.first.Stop()
	}
	switch {
	case s.idle <= 0:
	case s.next == nil:
		s.next = s.after(s.idle, call.ReasonIdleTimeout)
	default:
		s.next.Reset(s.idle)
	}
}

// End stops the timers.
func (s *Silence) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, timer := range []*time.Timer{s.first, s.next} {
		if timer != nil {
			timer.Stop()
		}
	}
}

// Over returns a writer that records every write to w.
func (s *Silence) Over(w io.Writer) io.Writer { return heardWriter{w, s} }

type heardWriter struct {
	io.Writer
	silence *Silence
}

func (w heardWriter) Write(p []byte) (int, error) {
	w.silence.Heard()
	return w.Writer.Write(p)
}
