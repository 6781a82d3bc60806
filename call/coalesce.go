package call

import (
	"cmp"
	"iter"
	"strings"
	"time"
)

// Coalescing says how far [Coalesce] goes. The zero value works.
type Coalescing struct {
	// Every is how long a piece of text may wait for more. Zero: 50 ms.
	Every time.Duration
	// Size is how many bytes of text need not wait. Zero: 512.
	Size int
	// Stop is called when the reader leaves before the end. Give the cancel
	// func of the stream's context: a source that waits for its next event
	// does not learn in any other way that nobody wants it, and the reader
	// has to wait with it. Nil: it is waited for.
	Stop func()
}

const (
	defaultEvery = 50 * time.Millisecond
	defaultSize  = 512
)

// Coalesce merges the text deltas of a stream, so that a reader for whom each
// event is work, such as a terminal or a socket, gets fewer and longer ones.
// No text is lost or moved: what is held is delivered before any other kind
// of event, before an error and at the end, and when Every has passed without
// an event.
//
// The source runs in a goroutine of its own, one event ahead of the reader,
// and has ended when the loop over the result has.
func Coalesce(events iter.Seq2[Event, error], c Coalescing) iter.Seq2[Event, error] {
	c.Every, c.Size = cmp.Or(c.Every, defaultEvery), cmp.Or(c.Size, defaultSize)
	return func(yield func(Event, error) bool) {
		s := startSource(events)
		ended := false
		defer func() { s.join(ended, c.Stop) }()
		m := merger{Coalescing: c, yield: yield}
		defer m.disarm()
		ended = m.run(s.items)
	}
}

// source is a sequence that is read by a goroutine.
type source struct {
	items    chan arrival
	left     chan struct{} // closed when nobody reads items any more
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

// join waits until the source has ended, and passes its panic on.
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

// merger holds the text that may still grow.
type merger struct {
	Coalescing
	yield func(Event, error) bool

	first Event // of the deltas that are held
	text  strings.Builder
	timer *time.Timer
	due   <-chan time.Time // nil while nothing is held
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
		case <-m.due:
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
	if m.due != nil && (m.first.Backend != i.event.Backend || m.first.Session != i.event.Session) && !m.flush() {
		return false
	}
	if m.due == nil {
		m.first = i.event
		m.arm()
	}
	m.text.WriteString(i.event.Text)
	return m.text.Len() < m.Size || m.flush()
}

// flush delivers what is held.
func (m *merger) flush() bool {
	if m.due == nil {
		return true
	}
	m.disarm()
	e := m.first
	e.Text = m.text.String()
	m.text.Reset()
	return m.yield(e, nil)
}

func (m *merger) arm() {
	if m.timer == nil {
		m.timer = time.NewTimer(m.Every)
	} else {
		m.timer.Reset(m.Every)
	}
	m.due = m.timer.C
}

func (m *merger) disarm() {
	if m.timer != nil {
		m.timer.Stop()
	}
	m.due = nil
}
