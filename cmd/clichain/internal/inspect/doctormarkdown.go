package inspect

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/doctor"
)

// markdownOf returns the report as Markdown, for the summary of a CI job.
func markdownOf(found checkup, now time.Time) string {
	report := found.Report
	machine, own := shared(report)
	var b strings.Builder
	fmt.Fprintf(&b, "### clichain doctor: %d of %d ready\n\n", report.Ready, countAsked(report))
	b.WriteString("| Backend | State | Login | Billing | Usage | Program |\n|---|---|---|---|---|---|\n")
	for _, d := range report.Backends {
		word, _, _ := stateOf(d, console.Style{})
		for _, text := range []string{
			d.Name, word, loginWords(d), string(d.Billing), windowWords(d, now), d.Path + " " + d.Version,
		} {
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
	list("settings", found.Problems)
	for _, d := range report.Backends {
		list(d.Name, own[d.Name])
	}
	list("this machine", machine)
	for _, row := range found.Settings.set() {
		fmt.Fprintf(&b, "- %s: %s (%s)\n", cell(row.Name), cell(row.Value), cell(row.origin()))
	}
	return b.String()
}

// cell escapes a text for a Markdown table.
func cell(s string) string {
	return cmp.Or(strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(terminal.OneLine(s)), " ")
}
