package ask

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/specs"
)

// stage is the display of the demo. On a terminal the bars grow while attempts run.
type stage struct {
	timeline
	terminal.Line
	live bool
}

// frame is the pause between two updates of a running attempt.
const frame = 40 * time.Millisecond

func newStage(env *console.Env) *stage {
	s := &stage{live: env.Redraws(env.Out)}
	s.Out, s.Width = env.Out, func() int { return console.Columns(env.Out) }
	s.timeline = timeline{
		out: s.Over(env.Out), style: env.StyleOf(env.Out), width: console.Columns(env.Out), full: 1050 * time.Millisecond,
	}
	for _, name := range selection.NamesOf(specs.All()) {
		s.names = max(s.names, len(name))
	}
	return s
}

func (s *stage) intro(unsuppressed []string) {
	fmt.Fprintln(s.out, s.style.Bold("One question, five CLIs."))
	said := []string{"The CLIs are fakes, built in here; chain, specs and processes are real."}
	if len(unsuppressed) > 0 {
		names := strings.Join(unsuppressed, ", ")
		said = append(said, "("+names+" is set, and does not matter here: nothing of yours is run.)")
	}
	for _, text := range said {
		for _, line := range console.Wrap(text, s.width) {
			fmt.Fprintln(s.out, s.style.Dim(line))
		}
	}
	fmt.Fprintf(s.out, "\n  > %s\n\n", demoPrompt)
}

// begin shows the start of an attempt. The function that it returns shows the end of the attempt.
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
			most = max(most, len(fake.Survivors(path)))
			if s.live {
				s.Draw(func(width int) string {
					return s.line(row{name: name, took: time.Since(start), state: running, label: "asking"}, width)
				})
			}
		}
	})
	return func(err *clichain.BackendError) {
		took := time.Since(start)
		close(over)
		watch.Wait()
		s.draw(endOf(name, took, err, most, len(fake.Survivors(path))))
	}
}

// endOf returns the row of a finished attempt, which had at most most processes; left of them still run.
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

// outro shows the answer, and suggests the next commands.
func (s *stage) outro(resp *clichain.Response, took time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %s\n\n", strings.Join(console.Wrap(terminal.Visible(resp.Text), s.width-4), "\n  "))
	others := fmt.Sprintf("%s, %d others tried or skipped", summary(resp, took), len(resp.Attempts))
	for _, line := range console.Wrap(others, s.width-2) {
		fmt.Fprintf(&b, "  %s\n", s.style.Dim(line))
	}
	fmt.Fprintln(&b, "\n"+s.style.Bold("Now with your own CLIs:"))
	for _, try := range [][2]string{
		{"clichain doctor", "what is ready here"},
		{fmt.Sprintf("clichain ask %q", demoPrompt), "the first answer there is"},
		{"git diff | clichain ask --trace \"Review it\"", "and what each backend did"},
	} {
		apart := " "
		if s.width < 80 { // too narrow for both
			apart = "\n      "
		}
		fmt.Fprintf(&b, "  %-44s%s%s\n", try[0], apart, s.style.Dim(try[1]))
	}
	_, err := io.WriteString(s.out, b.String())
	return console.OutputError(err)
}
