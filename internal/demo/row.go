package demo

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

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

// draw draws a row with its notes, in the place of the line of the running attempt.
func (v *view) draw(r row) {
	var b strings.Builder
	if v.Live {
		b.WriteString("\r" + eraseLine)
	}
	fmt.Fprintln(&b, v.line(r))
	for _, note := range r.notes {
		for _, text := range wrap(note, v.Width-v.names-4) {
			fmt.Fprintln(&b, strings.Repeat(" ", v.names+4)+v.dim(text))
		}
	}
	_, _ = io.WriteString(v.Out, b.String()) // a display error does not fail the demo
}

// line returns the row without its notes.
func (v *view) line(r row) string {
	cells := max(6, min(v.Width-58, 22))
	color := [...]string{"33", "32", "31", "2"}[r.state] // yellow, green, red, dim
	mark := [...]string{"…", "✓", "✗", "–"}[r.state]
	took := ""
	if r.state != skipped {
		took = duration(r.took)
	}
	name := fmt.Sprintf("%-*s", v.names, r.name)
	if r.state == answered {
		name = v.bold(name)
	}
	bar := fmt.Sprintf("%-*s", cells, Bar(r.took, full, cells))
	return fmt.Sprintf("  %s  %s %8s  %s", name, v.paint(color, bar), took, v.paint(color, mark+" "+r.label))
}

// Bar draws d in eighths of a cell. full is the duration of a bar with all cells. A duration of 1 ms or more has at
// least one eighth.
func Bar(d, full time.Duration, cells int) string {
	if full <= 0 || d < time.Millisecond {
		return ""
	}
	eighths := max(1, min(int(int64(cells)*8*int64(d)/int64(full)), cells*8))
	return strings.Repeat("█", eighths/8) + strings.TrimSpace(string([]rune(" ▏▎▍▌▋▊▉")[eighths%8]))
}

func (v *view) bold(text string) string { return v.paint("1", text) }
func (v *view) dim(text string) string  { return v.paint("2", text) }

func (v *view) paint(code, text string) string {
	if !v.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// wrap breaks a text between words into lines of at most width columns. The texts of the demo have no wide characters.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

func duration(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
