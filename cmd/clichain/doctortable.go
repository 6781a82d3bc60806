package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain/doctor"
)

// doctorTable is the report for people, in lines of up to width columns: each backend with its problems below, then
// those of the machine, and the settings. It is a pure function, and names that others have chosen cannot move the
// cursor.
func doctorTable(found checkup, paint style, width int) string {
	t := &doctorWriter{style: paint, width: max(width, 40)}
	machine, own := shared(found.Report)
	rows := make([][]string, len(found.Backends))
	for i, d := range found.Backends {
		word, _, _ := paint.state(d)
		rows[i] = []string{oneLine(d.Name), word, loginWords(d), string(d.Billing), placeWords(d)}
	}
	t.measure(rows)
	for i, d := range found.Backends {
		t.backend(d, rows[i])
		t.problems(own[d.Name], "    ")
	}
	if len(machine) > 0 {
		t.title("This machine")
		t.problems(machine, "  ")
	}
	if set := found.Settings.set(); found.Settings.Found || len(set)+len(found.Problems) > 0 {
		t.title("Settings")
		t.wrapped("  ", found.Settings.place(), t.style.dim)
		t.problems(found.Problems, "  ")
		t.text.WriteString(settingsTable(set, paint, t.width))
	}
	fmt.Fprintf(&t.text, "\n%d of %d ready\n", found.Ready, countAsked(found.Report))
	return t.text.String()
}

// doctorWriter collects the lines of a table.
type doctorWriter struct {
	text   strings.Builder
	style  style
	width  int
	widths []int // of the columns
}

func (t *doctorWriter) measure(rows [][]string) {
	for _, row := range rows {
		t.widths = append(t.widths, make([]int, len(row)-min(len(row), len(t.widths)))...)
		for j, cell := range row {
			t.widths[j] = max(t.widths[j], utf8.RuneCountInString(cell))
		}
	}
}

// backend is one line where its columns fit; else the details follow on lines of their own.
func (t *doctorWriter) backend(d doctor.Diagnosis, row []string) {
	_, mark, paint := t.style.state(d)
	head := fmt.Sprintf("%s %s  ", paint(mark), cells(row[0], t.widths[0]))
	state := fmt.Sprintf("%-*s", t.widths[1], row[1])
	details := ""
	for j, cell := range row[2:] {
		if width := t.widths[j+2]; width > 0 {
			details += fmt.Sprintf("  %-*s", width, cell)
		}
	}
	details = strings.TrimRight(details, " ")
	room := t.width - 4 - t.widths[0] - t.widths[1]
	switch {
	case details == "":
		fmt.Fprintf(&t.text, "%s%s\n", head, paint(row[1]))
	case utf8.RuneCountInString(details) <= room:
		fmt.Fprintf(&t.text, "%s%s%s\n", head, paint(state), t.style.dim(details))
	default:
		fmt.Fprintf(&t.text, "%s%s\n", head, paint(row[1]))
		t.details(row[2:])
	}
}

// details are as many cells a line as fit.
func (t *doctorWriter) details(row []string) {
	line := ""
	flush := func() {
		t.wrapped("    ", line, t.style.dim)
		line = ""
	}
	for _, cell := range row {
		if line != "" && cell != "" && utf8.RuneCountInString(line)+utf8.RuneCountInString(cell)+6 > t.width {
			flush()
		}
		line = strings.TrimSpace(line + "  " + cell)
	}
	flush()
}

func (t *doctorWriter) title(text string) { fmt.Fprintf(&t.text, "\n%s\n", t.style.bold(text)) }

func (t *doctorWriter) problems(list []doctor.Problem, indent string) {
	plain := func(text string) string { return text }
	for _, p := range list {
		t.wrapped(indent, oneLine(p.Message), plain)
		if p.Hint != "" {
			t.wrapped(indent, "→ "+oneLine(p.Hint), t.style.dim)
		}
	}
}

// wrapped writes a text on as many lines as it needs.
func (t *doctorWriter) wrapped(indent, text string, paint func(string) string) {
	if utf8.RuneCountInString(text)+len(indent) <= t.width { // with the blanks between its cells
		if text != "" {
			t.text.WriteString(indent + paint(text) + "\n")
		}
		return
	}
	for _, line := range wrap(breakable(text, t.width-len(indent)), t.width-len(indent)) {
		t.text.WriteString(indent + paint(line) + "\n")
	}
}

// breakable has no word over a width: such as a path, which somebody may want to copy, and so is not shortened.
func breakable(text string, width int) string {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = strings.Join(breakAt(word, width), " ")
	}
	return strings.Join(words, " ")
}
