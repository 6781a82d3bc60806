package demo

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/specs"
)

// view draws one row per attempt, with a bar for its duration. On a terminal the bars grow while attempts run.
type view struct {
	Screen
	names int // width of the first column
}

const (
	frame = 40 * time.Millisecond   // the pause between two updates of a running attempt
	full  = 1050 * time.Millisecond // the duration of the longest bar
)

func newView(s Screen) *view {
	v := &view{Screen: s}
	v.Width = cmp.Or(v.Width, 80)
	for _, spec := range specs.All() {
		v.names = max(v.names, len(spec.Name))
	}
	return v
}

func (v *view) intro(unsuppressed []string) {
	fmt.Fprintln(v.Out, v.bold("One question, five CLIs."))
	said := []string{"The CLIs are fakes, built in here; chain, specs and processes are real."}
	if len(unsuppressed) > 0 {
		names := strings.Join(unsuppressed, ", ")
		said = append(said, "("+names+" is set, and does not matter here: nothing of yours is run.)")
	}
	for _, text := range said {
		for _, line := range wrap(text, v.Width) {
			fmt.Fprintln(v.Out, v.dim(line))
		}
	}
	fmt.Fprintf(v.Out, "\n  > %s\n\n", prompt)
}

// begin shows the start of an attempt. The function that it returns shows the end of the attempt.
func (v *view) begin(name, path string) (end func(*clichain.BackendError)) {
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
			if v.Live {
				line := v.line(row{name: name, took: time.Since(start), state: running, label: "asking"})
				_, _ = io.WriteString(v.Out, "\r"+line+eraseLine) // a display error does not fail the demo
			}
		}
	})
	return func(err *clichain.BackendError) {
		took := time.Since(start)
		close(over)
		watch.Wait()
		v.draw(endOf(name, took, err, most, len(fake.Survivors(path))))
	}
}

// eraseLine erases the rest of a line on a terminal.
const eraseLine = "\x1b[K"

// endOf returns the row of a finished attempt, which had at most most processes; left of them still run.
func endOf(name string, took time.Duration, err *clichain.BackendError, most, left int) row {
	if err == nil {
		return row{name: name, took: took, state: answered, label: "answered"}
	}
	r := row{name: name, took: took, state: failed, label: string(err.Reason)}
	r.notes = append(r.notes, cmp.Or(err.Message, "stopped: no answer in time"))
	if wait := time.Until(err.RetryAfter).Round(time.Minute); wait > 0 {
		at, minutes := err.RetryAfter.Local().Format("15:04"), int(wait.Minutes())
		r.notes = append(r.notes, fmt.Sprintf("available again at %s, in %d h %d min", at, minutes/60, minutes%60))
	}
	if err.Hint != "" {
		r.notes = append(r.notes, "→ "+err.Hint)
	}
	if most > 1 {
		r.notes = append(r.notes, fmt.Sprintf("1 process tree killed: %d processes, %d left", most, left))
	}
	return r
}

// outro shows the answer, and suggests the next commands.
func (v *view) outro(resp *clichain.Response, took time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %s\n\n", strings.Join(wrap(resp.Text, v.Width-4), "\n  "))
	summary := fmt.Sprintf("%s answered after %s, %d tokens in, %d out, %d others tried or skipped", resp.Backend,
		duration(took), resp.Usage.InputTokens, resp.Usage.OutputTokens, len(resp.Attempts))
	for _, line := range wrap(summary, v.Width-2) {
		fmt.Fprintf(&b, "  %s\n", v.dim(line))
	}
	fmt.Fprintln(&b, "\n"+v.bold("Now with your own CLIs:"))
	for _, try := range [][2]string{
		{"clichain doctor", "what is ready here"},
		{fmt.Sprintf("clichain ask %q", prompt), "the first answer there is"},
		{"git diff | clichain ask --trace \"Review it\"", "and what each backend did"},
	} {
		apart := " "
		if v.Width < 80 { // too narrow for both
			apart = "\n      "
		}
		fmt.Fprintf(&b, "  %-44s%s%s\n", try[0], apart, v.dim(try[1]))
	}
	if _, err := io.WriteString(v.Out, b.String()); err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return nil
}
