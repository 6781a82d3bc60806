package call

import (
	"cmp"
	"iter"
	"strings"
	"time"
)

// Coalescing sets how far [Coalesce] goes. The zero value means the defaults.
type Coalescing struct {
	// Every is how long a piece of text may be held for more. Zero: 50 ms.
	Every time.Duration
	// Size is how many bytes of held text are delivered at once. Zero: 512.
	Size int
	// Stop is called when the reader leaves before the end. Give the cancel
	// func of the stream's context: a source that waits for its next event
	// does not notice otherwise that the reader has left, and the loop ends
	// only when the source has. Nil: nothing is called.
	Stop func()
}

const (
	defaultEvery = 50 * time.Millisecond
	defaultSize  = 512
)

// Coalesce merges the text deltas of a stream, for a reader to whom each event
// is work, such as a terminal or a socket. No text is lost or moved: held text
// is delivered before any other kind of event, before an error, at the end, and
// when Every has passed since its first delta.
//
// The source runs in a goroutine of its own, one event ahead of the reader,
// and has ended when the loop over the result has.
func Coalesce(events iter.Seq2[Event, error], c Coalescing) iter.Seq2[Event, error] {
	c.Every, c.Size = cmp.Or(c.Every, defaultEvery), cmp.Or(c.Size, defaultSize)
	return func(yield func(Event, error) bool) {
		s := startSource(events)
		ended := false
		defer func() { s.join(ended, c.Stop) }()
		m := merger{Coalescing: c, yield: yield, timer: time.NewTimer(c.Every)}
		defer m.timer.Stop()
		ended = m.run(s.items)
	}
}

// source is a sequence that is read by a goroutine.
type source struct {
	items    chan arrival
	left     chan struct{} // closed when the reader of items has left
	panicked any           // may be read when items is closed
}

type arrival struct {
	event Event
	err   error
}

func startSource(events iter.Seq2[Event, error]) *source {
	s := &source{items: make(chan arrival), left: make(chan struct{})}
	go func() {
		defer close(s.items)
		defer func() { s.panicked = recover() }()
		for e, err := range events {
			select {
			case s.items <- arrival{e, err}:
			case <-s.left:
				return
			}
		}
	}()
	return s
}

// join waits until the source has ended, and repeats its panic.
func (s *source) join(ended bool, stop func()) {
	close(s.left)
	if !ended && stop != nil {
		stop()
	}
	for range s.items {
	}
	if s.panicked != nil {
		panic(s.panicked)
	}
}

// merger holds deltas that may still be joined by further ones.
type merger struct {
	Coalescing
	yield func(Event, error) bool
	timer *time.Timer

	held  bool
	first Event // of the held deltas
	text  strings.Builder
}

// run reports whether all items were delivered.
func (m *merger) run(items <-chan arrival) bool {
	for {
		select {
		case i, ok := <-items:
			if !ok {
				return m.flush()
			}
			if !m.take(i) {
				return false
			}
		case <-m.timer.C:
			if !m.flush() {
				return false
			}
		}
	}
}

// take holds a delta, and delivers anything else.
func (m *merger) take(i arrival) bool {
	if i.err != nil || i.event.Kind != EventDelta {
		return m.flush() && m.yield(i.event, i.err)
	}
	if (m.first.Backend != i.event.Backend || m.first.Session != i.event.Session) && !m.flush() {
		return false
	}
	if !m.held {
		m.held, m.first = true, i.event
		m.timer.Reset(m.Every)
	}
	m.text.WriteString(i.event.Text)
	return m.text.Len() < m.Size || m.flush()
}

// flush delivers the held text.
func (m *merger) flush() bool {
	if !m.held {
		return true
	}
	m.held = false
	m.timer.Stop()
	e := m.first
	e.Text = m.text.String()
	m.text.Reset()
	return m.yield(e, nil)
}
