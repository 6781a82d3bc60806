package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/doctor"
)

// state is what would become of a call, in a word, with its mark and its colour.
func (s style) state(d doctor.Diagnosis) (word, mark string, paint func(string) string) {
	switch {
	case d.SuppressedBy != "":
		return "turned off", "–", s.dim
	case d.Ready() && d.Login == clispec.LoginUnknown:
		return "maybe", "?", s.yellow
	case d.Ready():
		return "ready", "✓", s.green
	}
	if i := slices.IndexFunc(d.Problems, doctor.Problem.Blocks); i >= 0 {
		return d.Problems[i].Code, "✗", s.red
	}
	return string(clichain.ReasonNotInstalled), "✗", s.red
}

// shared separates the problems that several backends have alike, which are about the machine, from those of one.
func shared(report doctor.Report) (machine []doctor.Problem, own map[string][]doctor.Problem) {
	count := map[doctor.Problem]int{}
	for _, d := range report.Backends {
		for _, p := range d.Problems {
			count[p]++
		}
	}
	own = map[string][]doctor.Problem{}
	for _, d := range report.Backends {
		for _, p := range d.Problems {
			switch n := count[p]; {
			case p.Blocks() || n == 1:
				own[d.Name] = append(own[d.Name], p)
			case n > 1:
				machine = append(machine, p)
				count[p] = 0 // listed
			}
		}
	}
	return machine, own
}

// tableOf is the report for people: a line for each backend with its problems below, then those of the machine.
func tableOf(report doctor.Report, s style) string {
	machine, own := shared(report)
	var rows [][]string
	var widths [5]int
	for _, d := range report.Backends {
		word, _, _ := s.state(d)
		row := []string{d.Name, word, loginWords(d), string(d.Billing), placeWords(d)}
		for j, cell := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	for i, d := range report.Backends {
		_, mark, paint := s.state(d)
		fmt.Fprintf(&b, "%s ", paint(mark))
		line := ""
		for j, cell := range rows[i] {
			padded := cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell))
			switch {
			case j == 1:
				padded = paint(padded)
			case j > 1:
				padded = s.dim(padded)
			}
			line += padded
			if widths[j] > 0 {
				line += "  "
			}
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
		writeProblems(&b, s, own[d.Name], "    ")
	}
	if len(machine) > 0 {
		fmt.Fprintf(&b, "\n%s\n", s.bold("This machine"))
		writeProblems(&b, s, machine, "  ")
	}
	fmt.Fprintf(&b, "\n%d of %d ready\n", report.Ready, len(report.Backends))
	return b.String()
}

// loginWords say what is known of the login, and the evidence for it.
func loginWords(d doctor.Diagnosis) string {
	if !d.Installed {
		return ""
	}
	words := map[clispec.LoginState]string{
		clispec.LoginAuthenticated: "logged in",
		clispec.LoginInstalled:     "logged out",
		clispec.LoginUnknown:       "login unknown",
	}[d.Login]
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
	return oneLine(where + " " + d.Version)
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
	fmt.Fprintf(&b, "### clichain doctor: %d of %d ready\n\n", report.Ready, len(report.Backends))
	b.WriteString("| Backend | State | Login | Billing | Program |\n|---|---|---|---|---|\n")
	for _, d := range report.Backends {
		word, _, _ := style{}.state(d)
		for _, text := range []string{d.Name, word, loginWords(d), string(d.Billing), d.Path + " " + d.Version} {
			fmt.Fprintf(&b, "| %s ", cell(text))
		}
		b.WriteString("|\n")
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

// cell is a text without what would break a table of Markdown.
func cell(s string) string {
	return cmp.Or(strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(oneLine(s)), " ")
}
