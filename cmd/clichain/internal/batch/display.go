package batch

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
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
	line  terminal.Line
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
	s.line.Out, s.line.Width = s.Out, s.Width
	s.Out = s.line.Over(s.Out)
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
	if s.Live {
		s.line.Draw(func(width int) string { return statusLine(&c, s.rate.perSecond(), now, width) })
		return
	}
	fmt.Fprintln(s.Out, "clichain: "+statusLine(&c, s.rate.perSecond(), now, 1<<10))
}

// say prints a line of its own.
func (s *screen) say(format string, args ...any) {
	fmt.Fprintln(s.Out, "clichain: "+terminal.OneLine(fmt.Sprintf(format, args...)))
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
