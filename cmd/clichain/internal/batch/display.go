package batch

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Display says how people see a batch. The zero value shows nothing.
type Display struct {
	Out io.Writer
	// Quiet leaves out everything but mistakes in lines of the input.
	Quiet bool
	// Live draws a status line and draws it again, for a terminal of Width columns. Else there is a line now and then.
	Live  bool
	Width func() int
}

const (
	redraw = 200 * time.Millisecond
	remark = 30 * time.Second // without a terminal
)

// screen draws the display until it is ended.
type screen struct {
	Display
	tally *tally
	began time.Time
	rate  rate
	over  chan struct{}
	drawn sync.WaitGroup

	mu   sync.Mutex
	told map[string]bool
}

func (d Display) begin(t *tally) *screen {
	s := &screen{Display: d, tally: t, began: time.Now(), over: make(chan struct{}), told: map[string]bool{}}
	if d.Out == nil || d.Quiet {
		s.Display = Display{Out: io.Discard, Quiet: true}
	}
	before := t.now()
	s.rate.add(s.began, before.Done())
	if !s.Quiet {
		s.drawn.Go(s.run)
	}
	return s
}

func (s *screen) run() {
	every := remark
	if s.Live {
		every = redraw
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.over:
			return
		case now := <-tick.C:
			s.draw(now)
		}
	}
}

func (s *screen) draw(now time.Time) {
	c := s.tally.now()
	s.rate.add(now, c.Done())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Live {
		fmt.Fprint(s.Out, "\r\x1b[K"+statusLine(&c, s.rate.perSecond(), now, s.Width()-1))
		return
	}
	fmt.Fprintln(s.Out, "clichain: "+statusLine(&c, s.rate.perSecond(), now, 1<<10))
}

// say prints a line of its own.
func (s *screen) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Live {
		fmt.Fprint(s.Out, "\r\x1b[K")
	}
	fmt.Fprintln(s.Out, "clichain: "+clean(fmt.Sprintf(format, args...)))
}

// sayOnce does so the first time for a key.
func (s *screen) sayOnce(key, format string, args ...any) {
	s.mu.Lock()
	before := s.told[key]
	s.told[key] = true
	s.mu.Unlock()
	if !before {
		s.say(format, args...)
	}
}

// end clears the status line and says what the run came to.
func (s *screen) end() {
	close(s.over)
	s.drawn.Wait()
	c := s.tally.now()
	for _, line := range summary(&c, time.Since(s.began)) {
		s.say("%s", line)
	}
}
