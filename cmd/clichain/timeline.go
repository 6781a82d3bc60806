package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
)

// timeline draws attempts one below the other, each with a bar as long as it
// took.
type timeline struct {
	out   io.Writer
	style style
	width int
	names int           // width of the first column
	full  time.Duration // what the longest bar stands for
}

// row is one backend's part.
type row struct {
	name  string
	took  time.Duration
	state state
	label string
	notes []string
}

type state int

const (
	running state = iota
	answered
	failed
	skipped
)

const barCells = 22

func (t *timeline) draw(r row) {
	fmt.Fprintln(t.out, t.line(r))
	for _, note := range r.notes {
		for _, text := range wrap(oneLine(note), t.width-t.names-4) {
			fmt.Fprintln(t.out, strings.Repeat(" ", t.names+4)+t.style.dim(text))
		}
	}
}

// line is the row without its notes.
func (t *timeline) line(r row) string {
	paint := [...]func(string) string{t.style.yellow, t.style.green, t.style.red, t.style.dim}[r.state]
	mark := [...]string{"…", "✓", "✗", "–"}[r.state]
	took := ""
	if r.state != skipped {
		took = duration(r.took)
	}
	name := fmt.Sprintf("%-*s", t.names, shorten(r.name, t.names))
	if r.state == answered {
		name = t.style.bold(name)
	}
	bar := fmt.Sprintf("%-*s", barCells, bar(r.took, t.full, barCells))
	return fmt.Sprintf("  %s  %s %8s  %s", name, paint(bar), took, paint(mark+" "+shorten(r.label, t.width-t.names-barCells-17)))
}

// bar is d in eighths of a cell; what took any time at all is seen.
func bar(d, full time.Duration, cells int) string {
	if full <= 0 || d < time.Millisecond {
		return ""
	}
	eighths := max(1, min(int(int64(cells)*8*int64(d)/int64(full)), cells*8))
	return strings.Repeat("█", eighths/8) + strings.TrimSpace(string([]rune(" ▏▎▍▌▋▊▉")[eighths%8]))
}

// duration is short and does not jump in width.
func duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// rowOf shows an attempt.
func rowOf(a clichain.Attempt) row {
	r := row{name: a.Backend, took: a.Duration, state: failed, label: string(a.Reason)}
	be, ok := errors.AsType[*clichain.BackendError](a.Err)
	switch {
	case a.Skipped:
		r.state = skipped
		if ok && a.Reason != clichain.ReasonNotInstalled { // which says it all
			r.notes = []string{be.Message}
		}
	case ok:
		r.notes = notes(be, time.Now())
	case a.Err != nil:
		r.notes = []string{a.Err.Error()}
	}
	return r
}

// notes say what the backend said, how long to wait and what to do.
func notes(be *clichain.BackendError, now time.Time) []string {
	var list []string
	if text := cmp.Or(be.Message, cause(be)); text != "" {
		list = append(list, text)
	}
	if wait := be.RetryAfter.Sub(now); wait > 0 {
		list = append(list, fmt.Sprintf("of use again at %s, in %s", be.RetryAfter.Local().Format("15:04"), roughly(wait)))
	}
	if be.Hint != "" {
		list = append(list, "→ "+be.Hint)
	}
	return list
}

// cause is what is behind a failure that the CLI said nothing about.
func cause(be *clichain.BackendError) string {
	switch {
	case slices.Contains(timeouts, be.Reason):
		return "stopped: no answer in time"
	case be.Err != nil:
		return be.Err.Error()
	case be.ExitCode > 0:
		return fmt.Sprintf("exit status %d: %s", be.ExitCode, lastLine(be.Stderr))
	}
	return ""
}

// roughly is a wait for people: "3 h 12 min".
func roughly(d time.Duration) string {
	minutes := int(d.Round(time.Minute).Minutes())
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case minutes < 60:
		return fmt.Sprintf("%d min", minutes)
	case minutes < 48*60:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
	return fmt.Sprintf("%d days", minutes/60/24)
}
