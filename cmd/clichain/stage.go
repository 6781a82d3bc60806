package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
)

// stage is the display of the demo. On a terminal the bars grow while attempts run.
type stage struct {
	timeline
	live bool
}

// frame is the pause between two looks at a running attempt.
const frame = 40 * time.Millisecond

func (a *app) newStage() *stage {
	paint := a.styleOf(a.out)
	s := &stage{live: paint.on}
	s.timeline = timeline{out: a.out, style: paint, width: columns(a.out), full: 1050 * time.Millisecond}
	for _, name := range builtinNames() {
		s.names = max(s.names, len(name))
	}
	return s
}

func (s *stage) intro(unsuppressed []string) {
	fmt.Fprintf(s.out, "%s\n%s\n", s.style.bold("One question, five CLIs."),
		s.style.dim("The CLIs are fakes, built in here; chain, specs and processes are real."))
	if len(unsuppressed) > 0 {
		names := strings.Join(unsuppressed, ", ")
		fmt.Fprintln(s.out, s.style.dim("("+names+" is set, and does not matter here: nothing of yours is run.)"))
	}
	fmt.Fprintf(s.out, "\n  > %s\n\n", demoPrompt)
}

// begin shows that a backend is asked. The func it returns shows how the attempt ended.
func (s *stage) begin(name, path string) (end func(*clichain.BackendError)) {
	start := time.Now()
	over := make(chan struct{})
	var watch sync.WaitGroup
	most := 0
	watch.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(frame):
			}
			most = max(most, len(clitest.Survivors(path)))
			s.redraw(row{name: name, took: time.Since(start), state: running, label: "asking"})
		}
	})
	return func(err *clichain.BackendError) {
		took := time.Since(start)
		close(over)
		watch.Wait()
		s.redraw(row{})
		s.draw(endOf(name, took, err, most, len(clitest.Survivors(path))))
	}
}

// redraw replaces the line of a running attempt; the zero row clears it.
func (s *stage) redraw(r row) {
	if !s.live {
		return
	}
	_, _ = io.WriteString(s.out, "\r\x1b[K") // errors show at the end, which is drawn anew
	if r.name != "" {
		_, _ = io.WriteString(s.out, s.line(r))
	}
}

// endOf is the row of an attempt that is over; it had up to most processes and still has left.
func endOf(name string, took time.Duration, err *clichain.BackendError, most, left int) row {
	if err == nil {
		return row{name: name, took: took, state: answered, label: "answered"}
	}
	r := row{name: name, took: took, state: failed, label: string(err.Reason), notes: notes(err, time.Now())}
	if most > 1 {
		r.notes = append(r.notes, fmt.Sprintf("1 process tree killed: %d processes, %d left", most, left))
	}
	return r
}

// outro shows the answer, and which commands to try next.
func (s *stage) outro(resp *clichain.Response, took time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %s\n\n", strings.Join(wrap(visible(resp.Text), s.width-4), "\n  "))
	others := fmt.Sprintf("%s, %d others tried or skipped", summary(resp, took), len(resp.Attempts))
	fmt.Fprintf(&b, "  %s\n\n", s.style.dim(others))
	fmt.Fprintln(&b, s.style.bold("Now with your own CLIs:"))
	for _, try := range [][2]string{
		{"clichain doctor", "what is ready here"},
		{fmt.Sprintf("clichain ask %q", demoPrompt), "the first answer there is"},
		{"git diff | clichain ask --trace \"Review it\"", "and what happened on the way"},
	} {
		fmt.Fprintf(&b, "  %-44s %s\n", try[0], s.style.dim(try[1]))
	}
	_, err := io.WriteString(s.out, b.String())
	return outputError(err)
}
