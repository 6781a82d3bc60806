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

// matrixFile is the page that TestMatrix reads and writes.
var matrixFile = filepath.Join("..", "docs", "reference", "conformance.md")

// cell is a scenario with one version of a CLI.
type cell struct{ cli, version, scenario string }

// verdictsFrom is the index of the first column with verdicts in the tables of the page.
const verdictsFrom = 2

// matrix has the verdicts of runs. It is safe for concurrent use by parallel tests.
type matrix struct {
	mu       sync.Mutex
	verdicts map[cell]string
	dates    map[cell]string // by version, without a scenario
}

func newMatrix() *matrix { return &matrix{verdicts: map[cell]string{}, dates: map[cell]string{}} }

func (m *matrix) add(c cell, verdict, date string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.verdicts[c] = verdict
	c.scenario = ""
	m.dates[c] = date
}

// addOlder adds the verdicts of an earlier run for versions that are still installed and that this run did not test.
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

// versions returns the versions of a CLI on the page, the newest first.
func (m *matrix) versions(cli string) (list []string) {
	for c := range m.dates {
		if c.cli == cli {
			list = append(list, c.version)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(numbers(b), numbers(a)) })
	return list
}

// numbers returns a key that sorts versions as text.
func numbers(version string) (key string) {
	for part := range strings.SplitSeq(version, ".") {
		key += fmt.Sprintf("%8s.", part)
	}
	return key
}

// readMatrix reads the verdicts of earlier runs from the tables of the page.
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
			columns = fields[verdictsFrom:]
			continue
		}
		for i, verdict := range fields[verdictsFrom:] {
			version, date, _ := strings.Cut(columns[i], ", ")
			m.add(cell{cli, version, strings.Trim(fields[0], "`")}, strings.Trim(verdict, "*"), date)
		}
	}
	return m
}

// page returns the page. It leaves out versions that are no longer installed.
func (m *matrix) page(rows []scenario) string {
	var b strings.Builder
	b.WriteString(matrixIntro)
	for _, s := range rows {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.name, s.means, s.want)
	}
	summary := "\n| CLI | Versions and dates of the runs | As expected |\n|---|---|---|\n"
	var sections strings.Builder
	for _, name := range installedNames() {
		versions := m.versions(name)
		good, all := 0, 0
		var table strings.Builder
		fmt.Fprintf(&table, "\n## %s\n\n| Scenario | Expected |", name)
		var told []string
		for _, v := range versions {
			date := m.dates[cell{name, v, ""}]
			fmt.Fprintf(&table, " %s, %s |", v, date)
			told = append(told, v+" ("+date+")")
		}
		table.WriteString("\n|---|---|" + strings.Repeat("---|", len(versions)) + "\n")
		for _, s := range rows {
			fmt.Fprintf(&table, "| `%s` | %s |", s.name, s.want)
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

// remarks returns the explanations of unexpected verdicts.
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

This page has the verdict on each scenario with the real program of each CLI. TestMatrix runs each CLI as the library
starts it, against a model server on loopback. Unless the scenario says otherwise, the chain has another backend, so it
ends a run that only retries. After each call, no process of the CLI was left. Unexpected verdicts are in bold, with
an explanation below the table. The page leaves out cursor-agent and agy, which no package registry has.

CI runs all scenarios with the newest version of each CLI and compares the verdicts with this page. To write the page
with all versions:

` + "```sh" + `
(cd conformance && CLICHAIN_CONFORMANCE=required go test -timeout 60m -run TestMatrix -versions -update .)
` + "```" + `

| Scenario | Description | Expected |
|---|---|---|
`
