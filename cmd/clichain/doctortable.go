package main

import (
	"fmt"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/doctor"
)

// doctorTable is the report for people, in lines of up to width columns: each backend with its problems below, then
// those of the machine, and the settings. It is a pure function, and names that others have chosen cannot move the
// cursor.
func doctorTable(found checkup, paint style, width int) string {
	p := newPage(paint, width)
	machine, own := shared(found.Report)
	rows := make([][]string, len(found.Backends))
	for i, d := range found.Backends {
		word, _, _ := paint.state(d)
		rows[i] = []string{d.Name, word, loginWords(d), string(d.Billing), placeWords(d)}
	}
	widths := widthsOf(rows)
	for i, d := range found.Backends {
		backendLines(p, d, rows[i], widths)
		problemList(p, own[d.Name], "    ")
	}
	if len(machine) > 0 {
		p.title("This machine")
		problemList(p, machine, "  ")
	}
	if set := found.Settings.set(); found.Settings.Found || len(set)+len(found.Problems) > 0 {
		p.title("Settings")
		p.hangWhole("  ", found.Settings.place(), p.dim)
		problemList(p, found.Problems, "  ")
		settingLines(p, set)
	}
	p.line("")
	p.line(fmt.Sprintf("%d of %d ready", found.Ready, countAsked(found.Report)))
	return p.String()
}

// backendLines is one line where the cells of a row fit; else the details follow on lines of their own.
func backendLines(p *page, d doctor.Diagnosis, row []string, widths []int) {
	_, mark, paint := p.state(d)
	head := paint(mark) + " " + cells(row[0], widths[0]) + "  "
	details := ""
	for i, text := range row[2:] {
		if width := widths[i+2]; width > 0 {
			details += "  " + cells(text, width)
		}
	}
	details = strings.TrimRight(details, " ")
	switch room := p.width - columnsOf(head) - widths[1]; {
	case details == "":
		p.line(head + paint(row[1]))
	case terminal.Width(details) <= room:
		p.line(head + paint(cells(row[1], widths[1])) + p.dim(details))
	default:
		p.line(head + paint(row[1]))
		detailLines(p, row[2:])
	}
}

// detailLines are as many cells a line as fit.
func detailLines(p *page, row []string) {
	line := ""
	for _, text := range row {
		if line != "" && text != "" && terminal.Width(line)+terminal.Width(text)+6 > p.width {
			p.hangWhole("    ", line, p.dim)
			line = ""
		}
		line = strings.TrimSpace(line + "  " + text)
	}
	p.hangWhole("    ", line, p.dim)
}

func problemList(p *page, list []doctor.Problem, indent string) {
	for _, problem := range list {
		p.hangWhole(indent, oneLine(problem.Message), unpainted)
		if problem.Hint != "" {
			p.hangWhole(indent, "→ "+oneLine(problem.Hint), p.dim)
		}
	}
}
