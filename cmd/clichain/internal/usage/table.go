package usage

import (
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/quotatext"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

const (
	// fresh is the age up to which an observation is shown as the current state. Other programs may use the account
	// too, so an older one is a lower bound.
	fresh = 5 * time.Minute

	minBar, maxBar = 8, 24 // columns of a bar
)

// usageTable returns the windows as a table, in lines of up to width columns. Times are in the zone of now.
func usageTable(r report, paint console.Style, width int, now time.Time) string {
	p := console.NewPage(paint, width)
	var rows [][]string
	for _, a := range r.Accounts {
		for _, w := range a.Windows {
			rows = append(rows, cells(w, now))
		}
	}
	l := layoutOf(p, rows)
	for i, a := range r.Accounts {
		p.Title(r.title(i))
		for _, w := range a.Windows {
			l.row(p, w, rows[0])
			rows = rows[1:]
		}
	}
	return p.String()
}

// title names an account: its backends, and the account or, if it is not unique, the login.
func (r report) title(i int) string {
	a := r.Accounts[i]
	title := strings.Join(a.Backends, ", ")
	if a.Account != "" {
		return title + " (account " + a.Account + ")"
	}
	for j, other := range r.Accounts {
		if j != i && other.Account == "" && strings.Join(other.Backends, ", ") == title {
			return title + " (login " + a.Key[:min(len(a.Key), 8)] + ")"
		}
	}
	return title
}

// The cells of a row.
const (
	cellLength = iota
	cellName
	cellUsed
	cellUntil
	cellDetails
)

func cells(w window, now time.Time) []string {
	used, until := "?", ""
	if w.Used != nil {
		used = quotatext.Percent(*w.Used)
	}
	if !w.ResetsAt.IsZero() {
		until = "until " + quotatext.Time(w.ResetsAt, now)
	}
	return []string{quotatext.Length(w.length()), w.Name, used, until, details(w, now)}
}

// details describes the age of the observation, the rate, and its end.
func details(w window, now time.Time) string {
	if !w.EmptySince.IsZero() {
		return "empty since " + quotatext.Time(w.EmptySince, now)
	}
	parts := []string{"", "", ""}
	if now.Sub(w.ObservedAt) > fresh && !w.ObservedAt.IsZero() && w.Used != nil {
		parts[0] = "at least " + quotatext.Percent(*w.Used) + " at " + quotatext.Time(w.ObservedAt, now)
	}
	if w.PerHour != nil && *w.PerHour > 0 {
		parts[1] = quotatext.Rate(*w.PerHour, w.length())
	}
	switch {
	case w.Used == nil:
	case *w.Used >= 1:
		parts[2] = "used up"
	case !w.UsedUpAt.IsZero() && w.UsedUpAt.Before(now):
		parts[2] = "used up by now"
	case !w.UsedUpAt.IsZero():
		parts[2] = "used up at " + quotatext.Time(w.UsedUpAt, now)
	case parts[1] != "":
		parts[2] = "lasts until the reset"
	}
	return console.JoinTexts(parts)
}

// layout is the form of all rows of a table.
type layout struct {
	widths []int // of the cells
	last   int   // the last cell beside the bar; the others are on the next line
	bar    int   // columns of the bar
}

func layoutOf(p *console.Page, rows [][]string) layout {
	l := layout{widths: console.Widths(append(rows, make([]string, cellDetails+1))), last: cellDetails + 1}
	for i, most := range []int{p.Width / 5, min(p.Width/4, 20)} {
		l.widths[i] = min(l.widths[i], most)
	}
	for l.bar < minBar && l.last > cellUsed {
		l.last--
		l.bar = p.Width - 2
		for _, width := range l.widths[:l.last+1] {
			if width > 0 {
				l.bar -= width + 2
			}
		}
	}
	l.bar = min(l.bar, maxBar)
	return l
}

// row writes the row of a window.
func (l layout) row(p *console.Page, w window, row []string) {
	line := "  "
	for i, text := range row[:l.last+1] {
		switch cell := console.Cell(text, l.widths[i]); {
		case l.widths[i] == 0:
		case i == cellName:
			line += p.Dim(cell) + "  " + bar(p.Style, w.Used, l.bar) + "  "
		case i == cellUsed:
			line += strings.Repeat(" ", l.widths[i]-terminal.Width(text)) + text + "  "
		case i == cellDetails:
			line += p.Dim(text)
		default:
			line += cell + "  "
		}
	}
	p.Line(line)
	p.Hang("    ", console.JoinTexts(slices.Clone(row[l.last+1:])), p.Dim)
}

// bar draws the used share. It is full only if the window is.
func bar(s console.Style, used *float64, columns int) string {
	if used == nil {
		return s.Dim(strings.Repeat("·", columns))
	}
	full := min(int(*used*float64(columns)+1e-9), columns)
	if full == 0 && *used > 0 {
		full = 1
	}
	paint := s.Green
	switch {
	case *used >= 0.9:
		paint = s.Red
	case *used >= 0.7:
		paint = s.Yellow
	}
	return paint(strings.Repeat("█", full)) + s.Dim(strings.Repeat("░", columns-full))
}

// windowLine describes a window on one line.
func windowLine(title string, w window, now time.Time) string {
	row := cells(w, now)
	parts := []string{terminal.OneLine(title) + ":"}
	for _, i := range []int{cellUsed, cellLength, cellName, cellUntil} {
		text := terminal.OneLine(row[i])
		switch {
		case text == "":
		case i == cellName:
			parts = append(parts, "("+text+")")
		case i == cellLength:
			parts = append(parts, "of "+text)
		default:
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}
