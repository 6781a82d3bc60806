package bench_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pageFile is the page that TestBenchmarks writes.
var pageFile = filepath.Join("..", "..", "docs", "reference", "benchmarks.md")

// trial begins a note on a page that must not be committed.
const trial = "**A trial with"

const command = "(cd conformance && CLICHAIN_CONFORMANCE=required go test -v -timeout 60m ./bench -run TestBenchmarks -write)"

// page returns the whole page.
func page(t *testing.T, begin machine, results []result) string {
	var b strings.Builder
	fmt.Fprintf(&b, intro, command)
	if *rounds > 0 {
		fmt.Fprintf(&b, "%s %d round(s) at most: the figures only show that the benchmark works.**\n\n", trial, *rounds)
	}
	fmt.Fprintf(&b, "%s, %s; the run took %v.\n\n", begin.date, begin, time.Since(begin.began).Round(time.Minute))
	b.WriteString(versions(t) + "\n## At a glance\n\n")
	b.WriteString("The table contains medians, with the ratio to os/exec in brackets. The best figure of a line is in bold. Of rates the\n" +
		"highest is best, and of all other figures the lowest.\n\n" +
		"![Bar charts of five rows of the table](../pictures/benchmarks.svg)\n\n")
	b.WriteString(glance(results))
	for _, res := range results {
		b.WriteString(res.section())
	}
	return b.String()
}

const intro = `# Benchmarks

This page compares clichain with the alternatives: os/exec, xargs, and libraries and programs from npm. All of them run
the same real CLIs in the same homes. The model is a server on this machine, which answers at once unless a row says
otherwise. The times are therefore those of the CLIs and of the programs that start them.

The contenders of a row take turns, round by round, so that the load of the machine affects all of them. One round before
the others does not count, unless the contenders of the row only wait. A figure is the median of the rounds, with the
quartiles in brackets. A ratio is the median of the ratios to os/exec in the same round, with their quartiles. If xargs
runs several calls, only their mean is known.

One command measures all rows in one run and writes this page. It needs Linux, the CLIs and the other contenders:

` + "```sh" + `
for dir in . node22 bench; do npm ci --prefix "conformance/$dir"; done
%s
` + "```" + `

`

// glance returns the table with one line per figure and row.
func glance(results []result) string {
	head, rule := "|", "|---|"
	for _, c := range contenders {
		head += " | " + c.name
		rule += "---|"
	}
	lines := []string{head + " |", rule}
	for _, res := range results {
		for _, m := range res.measures {
			line := fmt.Sprintf("| %s: %s", res.name, m.title())
			for _, c := range contenders {
				line += " | " + res.brief(c.name, m)
			}
			lines = append(lines, line+" |")
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func (m measure) title() string {
	if m.unit == "" {
		return m.name
	}
	return m.name + ", " + m.unit
}

// brief formats one figure for that table.
func (res result) brief(name string, m measure) string {
	if res.missing[name] != "" {
		return "–"
	}
	q := quartilesOf(res.figures(name, m))
	if math.IsNaN(q.median) {
		return "none"
	}
	text := short(q.median)
	if res.best(m) == q.median {
		text = "**" + text + "**"
	}
	ratio := quartilesOf(ratios(res.figures(name, m), res.figures(execName, m)))
	if name != execName && !m.alone && !math.IsNaN(ratio.median) {
		text += fmt.Sprintf(" (%s)", short(ratio.median))
	}
	return text
}

func (res result) figures(name string, m measure) (list []float64) {
	for _, seen := range res.seen[name] {
		list = append(list, m.of(seen))
	}
	return list
}

func (res result) best(m measure) float64 {
	var medians []float64
	for _, c := range contenders {
		if median := quartilesOf(res.figures(c.name, m)).median; !math.IsNaN(median) {
			medians = append(medians, median)
		}
	}
	switch {
	case len(medians) == 0:
		return math.NaN()
	case m.more:
		return slices.Max(medians)
	}
	return slices.Min(medians)
}

// section returns the part of the page about one row.
func (res result) section() string {
	head, rule := "| ", "|---|"
	for _, m := range res.measures {
		head += "| " + m.title() + " | ratio to os/exec "
		rule += "---|---|"
	}
	text := fmt.Sprintf("\n## %s\n\n%s\n\n%s| n |\n%s---|\n", res.name, wrapped(res.what), head, rule)
	var notes string
	for _, c := range contenders {
		text += "| " + c.name + " "
		for i, m := range res.measures {
			text += "| " + res.full(c.name, m, i == 0) + " "
		}
		text += fmt.Sprintf("| %d |\n", len(res.seen[c.name]))
		if err := res.failed[c.name]; err != nil && (!res.tool || len(res.seen[c.name]) == 0) {
			notes += fmt.Sprintf("- %s: %s\n", c.name, plain(err.Error()))
		}
	}
	if notes != "" {
		text += "\nFailures without an answer:\n\n" + notes
	}
	return text
}

// full returns two columns: a figure and its ratio. With explain, the first one says why a contender is missing.
func (res result) full(name string, m measure, explain bool) string {
	if why := res.missing[name]; why != "" && explain {
		return why + " | –"
	} else if why != "" {
		return "– | –"
	}
	figures := res.figures(name, m)
	q := quartilesOf(figures)
	if math.IsNaN(q.median) {
		return "no answer | –"
	}
	ratio := quartilesOf(ratios(figures, res.figures(execName, m)))
	if name == execName || m.alone || math.IsNaN(ratio.median) {
		return q.String() + " | –"
	}
	return q.String() + " | " + ratio.String()
}

// plain shortens a message to 160 bytes and makes it safe for a table cell.
func plain(text string) string {
	text = strings.Join(strings.Fields(strings.NewReplacer("|", "/", "`", "'").Replace(text)), " ")
	if len(text) > 160 {
		text = text[:160] + "…"
	}
	return text
}

// wrapped breaks a paragraph into lines.
func wrapped(text string) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) >= 120 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}

// The page must have every row, every contender and the command that writes it.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(pageFile)
	require.NoError(t, err)
	require.Contains(t, string(text), "\n"+command+"\n")
	require.NotContains(t, string(text), trial, "measure all rounds")
	require.Equal(t, len(rows)+2, strings.Count(string(text), "\n## "), "the page has a section without a row")
	for _, r := range rows {
		_, section, ok := strings.Cut(string(text), "\n## "+r.name+"\n")
		require.True(t, ok, "no section %q", r.name)
		section, _, _ = strings.Cut(section, "\n## ")
		require.Contains(t, section, wrapped(r.what))
		for _, c := range contenders {
			require.Contains(t, section, "\n| "+c.name+" |", r.name)
		}
		for _, m := range r.measures {
			require.Contains(t, section, "| "+m.title()+" |")
			require.Contains(t, string(text), "\n| "+r.name+": "+m.title()+" |")
		}
	}
	for _, c := range contenders {
		require.Contains(t, string(text), "\n| "+c.name+" | "+c.how+" |")
	}
}
