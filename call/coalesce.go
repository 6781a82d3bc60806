package call

import (
	"cmp"
	"iter"
	"strings"
	"time"
)

// Coalescing sets the limits of [Coalesce]. The zero value means the defaults.
type Coalescing struct {
	// Every is the maximum time for which a delta is held back. Zero: 50 ms.
	Every time.Duration
	// Size is the number of held bytes at which the text is delivered. Zero: 512.
	Size int
	// Stop is called if the reader breaks out of the loop. Set it to the cancel function of the context of the
	// stream. Otherwise a source that waits for its next event does not notice that the reader is gone, and the loop
	// only ends when the source does. Nil: nothing is called.
	Stop func()
}

const (
	defaultEvery = 50 * time.Millisecond
	defaultSize  = 512
)

// Coalesce merges the text deltas of a stream, for a reader with a high cost per event, such as a terminal or a
// socket. It keeps all text and the order of the events. Held text is delivered before an event of another kind,
// before an error, at the end of the stream, and when Every has passed since the first held delta.
//
// The source runs in its own goroutine, one event ahead of the reader. The goroutine has ended when the loop over the
// result ends.
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

// source is a sequence that a goroutine reads.
type source struct {
	items    chan arrival
	left     chan struct{} // closed when the reader has left
	panicked any           // read it only after items is closed
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

// merger holds deltas to which further deltas may be appended.
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

// take holds a delta, and delivers any other event.
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
