package clichain

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/judge"
)

// silence ends a run that says nothing for too long, on either stream. Its
// methods may be called by both readers.
type silence struct {
	idle time.Duration
	stop context.CancelCauseFunc

	mu    sync.Mutex
	first *time.Timer // until the first output
	next  *time.Timer // from then on
}

// listen starts the clocks that are set.
func listen(cfg *Config, stop context.CancelCauseFunc) *silence {
	s := &silence{idle: cfg.IdleTimeout, stop: stop}
	if wait := cfg.FirstOutputTimeout; wait > 0 {
		s.first = s.after(wait, ReasonFirstOutputTimeout)
	} else if s.idle > 0 {
		s.next = s.after(s.idle, ReasonIdleTimeout)
	}
	return s
}

func (s *silence) after(wait time.Duration, reason Reason) *time.Timer {
	return time.AfterFunc(wait, func() { s.stop(&judge.Stop{Reason: reason, After: wait}) })
}

// heard notes that there was output.
func (s *silence) heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != nil {
		s.first.Stop()
	}
	switch {
	case s.idle <= 0:
	case s.next == nil:
		s.next = s.after(s.idle, ReasonIdleTimeout)
	default:
		s.next.Reset(s.idle)
	}
}

// end stops the clocks.
func (s *silence) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, timer := range []*time.Timer{s.first, s.next} {
		if timer != nil {
			timer.Stop()
		}
	}
}

// heardWriter notes every write.
type heardWriter struct {
	io.Writer
	silence *silence
}

func (w heardWriter) Write(p []byte) (int, error) {
	w.silence.heard()
	return w.Writer.Write(p)
}
