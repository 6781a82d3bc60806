package main

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/doctor"
)

// tableOf is the report for people: a line for each backend, its problems
// below it, then what is about the machine.
func tableOf(report doctor.Report, s style) string {
	machine, own := shared(report)
	rows := [][]string{}
	for _, d := range report.Backends {
		rows = append(rows, []string{d.Name, stateOf(d), loginWords(d), string(d.Billing), placeWords(d)})
	}
	widths := widthsOf(rows)
	var b strings.Builder
	for i, d := range report.Backends {
		paint, mark := paintOf(s, d)
		fmt.Fprintf(&b, "%s ", paint(mark))
		var line strings.Builder
		for j, cell := range rows[i] {
			padded := cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell))
			switch {
			case j == 1:
				padded = paint(padded)
			case j > 1:
				padded = s.dim(padded)
			}
			line.WriteString(padded)
			if widths[j] > 0 {
				line.WriteString("  ")
			}
		}
		fmt.Fprintln(&b, strings.TrimRight(line.String(), " "))
		writeProblems(&b, s, own[d.Name], "    ")
	}
	if len(machine) > 0 {
		fmt.Fprintf(&b, "\n%s\n", s.bold("This machine"))
		writeProblems(&b, s, machine, "  ")
	}
	fmt.Fprintf(&b, "\n%d of %d ready\n", report.Ready, len(report.Backends))
	return b.String()
}

func widthsOf(rows [][]string) []int {
	widths := make([]int, 5)
	for _, row := range rows {
		for j, cell := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func paintOf(s style, d doctor.Diagnosis) (paint func(string) string, mark string) {
	switch {
	case d.SuppressedBy != "":
		return s.dim, "–"
	case !d.Ready():
		return s.red, "✗"
	case d.Login == clispec.LoginUnknown:
		return s.yellow, "?"
	}
	return s.green, "✓"
}

// loginWords say what is known of the login, and by what.
func loginWords(d doctor.Diagnosis) string {
	words := map[clispec.LoginState]string{
		clispec.LoginAuthenticated: "logged in", clispec.LoginInstalled: "logged out", clispec.LoginUnknown: "login unknown",
	}[d.Login]
	if !d.Installed {
		return ""
	}
	if d.Evidence != "" {
		words += ": " + oneLine(d.Evidence)
	}
	return words
}

func placeWords(d doctor.Diagnosis) string {
	where := d.Path
	if real := d.RealPath(); d.Path != "" && real != d.Path {
		where += " → " + real
	}
	return oneLine(strings.TrimSpace(where + " " + d.Version))
}

func writeProblems(b *strings.Builder, s style, problems []doctor.Problem, indent string) {
	for _, p := range problems {
		fmt.Fprintf(b, "%s%s\n", indent, oneLine(p.Message))
		if p.Hint != "" {
			fmt.Fprintf(b, "%s%s\n", indent, s.dim("→ "+oneLine(p.Hint)))
		}
	}
}

// markdownOf is the report for the summary of a CI job.
func markdownOf(report doctor.Report) string {
	machine, own := shared(report)
	var b strings.Builder
	fmt.Fprintf(&b, "### clichain doctor: %d of %d ready\n\n| Backend | State | Login | Billing | Program |\n|---|---|---|---|---|\n", report.Ready, len(report.Backends))
	for _, d := range report.Backends {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(d.Name), cell(stateOf(d)), cell(loginWords(d)), cell(string(d.Billing)), cell(strings.TrimSpace(d.Path+" "+d.Version)))
	}
	list := func(who string, problems []doctor.Problem) {
		for _, p := range problems {
			fmt.Fprintf(&b, "- **%s** (%s): %s", cell(who), cell(p.Code), cell(p.Message))
			if p.Hint != "" {
				fmt.Fprintf(&b, " → %s", cell(p.Hint))
			}
			b.WriteByte('\n')
		}
	}
	b.WriteByte('\n')
	for _, d := range report.Backends {
		list(d.Name, own[d.Name])
	}
	list("this machine", machine)
	return b.String()
}

// cell is a text that cannot break a table.
func cell(s string) string {
	return cmp.Or(strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(oneLine(s)), " ")
}
