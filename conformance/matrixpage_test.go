package conformance_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
)

// matrixFile is the page that TestMatrix writes, and reads.
var matrixFile = filepath.Join("..", "docs", "conformance.md")

// cell is a scenario with one version of a CLI.
type cell struct{ cli, version, scenario string }

// matrix is what runs have seen. It may be filled by many tests at once.
type matrix struct {
	mu       sync.Mutex
	verdicts map[cell]string
	dates    map[cell]string // of a whole version, without a scenario
}

func newMatrix() *matrix { return &matrix{verdicts: map[cell]string{}, dates: map[cell]string{}} }

func (m *matrix) add(c cell, verdict, date string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.verdicts[c] = verdict
	c.scenario = ""
	m.dates[c] = date
}

// addOlder takes what an earlier run has seen of versions that are still to be run, and this one did not.
func (m *matrix) addOlder(t *testing.T, older *matrix) {
	t.Helper()
	for _, i := range home.Installs() {
		version := i.Wanted(t)
		for c, verdict := range older.verdicts {
			if _, seen := m.verdicts[c]; !seen && c.cli == i.CLI && c.version == version {
				m.add(c, verdict, older.dates[cell{cli: c.cli, version: c.version}])
			}
		}
	}
}

// versions are those of a CLI that the page has, the newest first.
func (m *matrix) versions(cli string) (list []string) {
	for c := range m.dates {
		if c.cli == cli {
			list = append(list, c.version)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(numbers(b), numbers(a)) })
	return list
}

// numbers makes versions comparable as text.
func numbers(version string) (key string) {
	for part := range strings.SplitSeq(version, ".") {
		key += fmt.Sprintf("%8s.", part)
	}
	return key
}

// readMatrix reads the page back: its tables are the record of what was seen.
func readMatrix(t *testing.T) *matrix {
	t.Helper()
	text, err := os.ReadFile(matrixFile)
	if os.IsNotExist(err) && *updateMatrix {
		return newMatrix()
	}
	require.NoError(t, err)
	m := newMatrix()
	var cli string
	var columns []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok {
			cli, columns = name, nil
		}
		if !strings.HasPrefix(line, "| ") || cli == "" {
			continue
		}
		fields := strings.Split(strings.Trim(line, "| "), " | ")
		if columns == nil {
			columns = fields[3:]
			continue
		}
		for i, verdict := range fields[3:] {
			version, date, _ := strings.Cut(columns[i], ", ")
			m.add(cell{cli, version, strings.Trim(fields[0], "`")}, strings.Trim(verdict, "*"), date)
		}
	}
	return m
}

// page is the whole page, with what is installed now: versions that are not run any more go.
func (m *matrix) page(rows []scenario) string {
	var b strings.Builder
	b.WriteString(matrixIntro)
	summary := "| CLI | versions, with the dates of their runs | as wanted |\n|---|---|---|\n"
	var sections strings.Builder
	for _, name := range installedNames() {
		versions := m.versions(name)
		good, all := 0, 0
		var table strings.Builder
		fmt.Fprintf(&table, "\n## %s\n\n| scenario | what happens | wanted |", name)
		var told []string
		for _, v := range versions {
			date := m.dates[cell{name, v, ""}]
			fmt.Fprintf(&table, " %s, %s |", v, date)
			told = append(told, v+" ("+date+")")
		}
		table.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(versions)) + "\n")
		for _, s := range rows {
			fmt.Fprintf(&table, "| `%s` | %s | %s |", s.name, s.means, s.want)
			for _, v := range versions {
				verdict := m.verdicts[cell{name, v, s.name}]
				if all++; verdict == s.want {
					good++
				} else {
					verdict = "**" + verdict + "**"
				}
				fmt.Fprintf(&table, " %s |", verdict)
			}
			table.WriteString("\n")
		}
		summary += fmt.Sprintf("| %s | %s | %d of %d |\n", name, strings.Join(told, ", "), good, all)
		sections.WriteString(table.String() + remarks(name, rows))
	}
	return b.String() + summary + sections.String()
}

// remarks explain what is not as wanted.
func remarks(name string, rows []scenario) (text string) {
	for _, s := range rows {
		if why := otherwise[name][s.name]; why != "" {
			text += fmt.Sprintf("- `%s`: %s\n", s.name, why)
		}
	}
	if text != "" {
		text = "\n" + text
	}
	return text
}

func installedNames() (names []string) {
	for _, i := range home.Installs() {
		if !slices.Contains(names, i.CLI) {
			names = append(names, i.CLI)
		}
	}
	return names
}

const matrixIntro = `# Conformance

Each scenario was played with the real program of each CLI, over loopback, as the library starts it. Where nothing else is
said, another backend in the chain could have answered, so that a CLI which only tries again is given up. After each call no process of
the CLI was left. A verdict that is not the one wanted is in bold, and explained below its table. There are
12 built-in specs: 10 run for real, 2 by documentation (cursor-agent, agy). Those two are not on this page.

CI plays all scenarios with the newest version of each CLI, and holds what it sees against this page. To write the page
again, with all versions:

` + "```sh" + `
(cd conformance && CLICHAIN_CONFORMANCE=required go test -timeout 60m -run TestMatrix -versions -update .)
` + "```" + `

`
