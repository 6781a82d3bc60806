package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/doctor"
)

// doctorTable returns the report as a table, in lines of up to width columns: the backends with their problems, the
// problems of the machine, and the settings. Control characters in names are escaped. Times
// are in the zone of now.
func doctorTable(found checkup, paint console.Style, width int, now time.Time) string {
	p := console.NewPage(paint, width)
	machine, own := shared(found.Report)
	rows := make([][]string, len(found.Backends))
	for i, d := range found.Backends {
		word, _, _ := stateOf(d, paint)
		rows[i] = []string{d.Name, word, loginWords(d), string(d.Billing), windowWords(d, now), placeWords(d)}
	}
	widths := console.Widths(rows)
	for i, d := range found.Backends {
		backendLines(p, d, rows[i], widths)
		problemList(p, own[d.Name], "    ")
	}
	if len(machine) > 0 {
		p.Title("This machine")
		problemList(p, machine, "  ")
	}
	if set := found.Settings.set(); found.Settings.Found || len(set)+len(found.Problems) > 0 {
		p.Title("Settings")
		p.HangWhole("  ", found.Settings.place(), p.Dim)
		problemList(p, found.Problems, "  ")
		settingLines(p, set)
	}
	p.Line("")
	p.Line(fmt.Sprintf("%d of %d ready", found.Ready, countAsked(found.Report)))
	return p.String()
}

// backendLines writes a row on one line if it fits, else with the details on separate lines.
func backendLines(p *console.Page, d doctor.Diagnosis, row []string, widths []int) {
	_, mark, paint := stateOf(d, p.Style)
	head := paint(mark) + " " + console.Cell(row[0], widths[0]) + "  "
	details := ""
	for i, text := range row[2:] {
		if width := widths[i+2]; width > 0 {
			details += "  " + console.Cell(text, width)
		}
	}
	details = strings.TrimRight(details, " ")
	switch room := p.Width - console.WidthOf(head) - widths[1]; {
	case details == "":
		p.Line(head + paint(row[1]))
	case terminal.Width(details) <= room:
		p.Line(head + paint(console.Cell(row[1], widths[1])) + p.Dim(details))
	default:
		p.Line(head + paint(row[1]))
		detailLines(p, row[2:])
	}
}

// detailLines writes as many cells per line as fit.
func detailLines(p *console.Page, row []string) {
	line := ""
	for _, text := range row {
		if line != "" && text != "" && terminal.Width(line)+terminal.Width(text)+6 > p.Width {
			p.HangWhole("    ", line, p.Dim)
			line = ""
		}
		line = strings.TrimSpace(line + "  " + text)
	}
	p.HangWhole("    ", line, p.Dim)
}

func problemList(p *console.Page, list []doctor.Problem, indent string) {
	for _, problem := range list {
		p.HangWhole(indent, terminal.OneLine(problem.Message), console.Plain)
		if problem.Hint != "" {
			p.HangWhole(indent, "→ "+terminal.OneLine(problem.Hint), p.Dim)
		}
	}
}
