package ask

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/internal/demo"
)

// timeline draws one row per attempt, with a bar for its duration.
type timeline struct {
	out   io.Writer
	style console.Style
	width int
	names int           // width of the first column
	full  time.Duration // duration of the longest bar
}

// row is one attempt.
type row struct {
	name, label string
	took        time.Duration
	state       state
	notes       []string
}

type state int

const (
	running state = iota
	answered
	failed
	skipped
)

// bars returns the number of cells of the longest bar.
func bars(width int) int { return max(6, min(width-58, 22)) }

func (t *timeline) draw(r row) {
	var b strings.Builder
	fmt.Fprintln(&b, t.line(r, t.width))
	for _, note := range r.notes {
		for _, text := range console.Wrap(terminal.OneLine(note), t.width-t.names-4) {
			fmt.Fprintln(&b, strings.Repeat(" ", t.names+4)+t.style.Dim(text))
		}
	}
	_, _ = io.WriteString(t.out, b.String()) // a display error does not fail the call
}

// labelWidth returns the number of columns for the label of a row, or 0 if the width is too small for rows.
func (t *timeline) labelWidth(width int) int { return width - t.names - bars(width) - 17 }

// line returns the row without its notes. It has at most width columns, unless width is too small for rows.
func (t *timeline) line(r row, width int) string {
	cells := bars(width)
	paint := [...]func(string) string{t.style.Yellow, t.style.Green, t.style.Red, t.style.Dim}[r.state]
	mark := [...]string{"…", "✓", "✗", "–"}[r.state]
	took := ""
	if r.state != skipped {
		took = console.Duration(r.took)
	}
	name := fmt.Sprintf("%-*s", t.names, terminal.Shorten(r.name, t.names))
	if r.state == answered {
		name = t.style.Bold(name)
	}
	bar := fmt.Sprintf("%-*s", cells, demo.Bar(r.took, t.full, cells))
	label := mark + " " + terminal.Shorten(r.label, t.labelWidth(width))
	return fmt.Sprintf("  %s  %s %8s  %s", name, paint(bar), took, paint(label))
}

func rowOf(a clichain.Attempt) row {
	r := row{name: a.Backend, took: a.Duration, state: failed, label: string(a.Reason)}
	be, ok := errors.AsType[*clichain.BackendError](console.WithFlags(a.Err))
	switch {
	case a.Skipped:
		r.state = skipped
		if ok && a.Reason != clichain.ReasonNotInstalled {
			r.notes = []string{be.Message}
		}
	case ok:
		r.notes = notes(be, time.Now())
	case a.Err != nil:
		r.notes = []string{a.Err.Error()}
	}
	return r
}

// notes returns the message of a failure, the time to wait and the hint.
func notes(be *clichain.BackendError, now time.Time) (list []string) {
	if text := cmp.Or(be.Message, cause(be)); text != "" {
		list = append(list, text)
	}
	if wait := be.RetryAfter.Sub(now); wait > 0 {
		at := be.RetryAfter.Local().Format("15:04")
		list = append(list, fmt.Sprintf("available again at %s, in %s", at, console.Roughly(wait)))
	}
	if be.Hint != "" {
		list = append(list, "→ "+be.Hint)
	}
	return list
}

// cause explains a failure for which the CLI gave no message.
func cause(be *clichain.BackendError) string {
	switch {
	case slices.Contains(console.TimeoutReasons, be.Reason):
		return "stopped: no answer in time"
	case be.Err != nil:
		return be.Err.Error()
	case be.ExitCode > 0:
		return fmt.Sprintf("exit status %d: %s", be.ExitCode, console.LastLine(be.Stderr))
	}
	return ""
}

func newTimeline(env *console.Env) *timeline {
	return &timeline{out: env.Err, style: env.StyleOf(env.Err), width: console.Columns(env.Err)}
}

// name widens the first column for a name.
func (t *timeline) name(name string) { t.names = max(t.names, min(len(name), 16)) }

// printTrace prints on stderr the backend that answered, and the attempts unless the timeline already showed them.
func printTrace(
	env *console.Env, shown *progress, resp *clichain.Response, failure *clichain.ChainError, took time.Duration,
) {
	t := newTimeline(env)
	rows := rowsOf(resp, failure)
	for _, r := range rows {
		t.name(r.name)
		t.full = max(t.full, r.took)
	}
	if shown != nil {
		t, rows = shown.timeline, slices.DeleteFunc(rows, func(r row) bool { return r.state != answered })
	}
	fmt.Fprintln(env.Err)
	for _, r := range rows {
		t.draw(r)
	}
	fmt.Fprintf(env.Err, "\n  %s\n", t.style.Dim(summary(resp, took)))
}

// rowsOf returns the rows of all attempts of a finished call, including the successful one.
func rowsOf(resp *clichain.Response, failure *clichain.ChainError) (rows []row) {
	var attempts []clichain.Attempt
	switch {
	case failure != nil:
		attempts = failure.Attempts
	case resp != nil:
		attempts = resp.Attempts
	}
	for _, attempt := range attempts {
		rows = append(rows, rowOf(attempt))
	}
	if resp != nil {
		rows = append(rows, row{name: resp.Backend, took: resp.Duration, state: answered, label: "answered"})
	}
	return rows
}

// summary returns one line about the whole call.
func summary(resp *clichain.Response, took time.Duration) string {
	if resp == nil {
		return "no answer after " + console.Duration(took)
	}
	text := fmt.Sprintf("%s answered after %s", resp.Backend, console.Duration(took))
	if u := resp.Usage; u.InputTokens > 0 || u.OutputTokens > 0 {
		text += fmt.Sprintf(", %d tokens in, %d out", u.InputTokens, u.OutputTokens)
	}
	if cost := resp.Usage.CostUSD; cost != nil {
		text += ", " + console.Dollars(*cost)
	}
	return text
}
