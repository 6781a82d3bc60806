package clients_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/netns"
)

var update = flag.Bool("update", false, "rewrite the table of clients in docs/reference/http.md")

var page = filepath.Join("..", "..", "docs", "reference", "http.md")

// TestClients checks each feature with each client, and that the page has the table of the outcomes.
func TestClients(t *testing.T) {
	netns.Require(t)
	program := build(t)
	cells := make([][]string, len(clients))
	t.Run("all", func(t *testing.T) {
		for i, c := range clients {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				cells[i] = c.cells(t, serve(t, program))
			})
		}
	})
	if t.Failed() || slices.ContainsFunc(cells, func(column []string) bool { return column == nil }) {
		return // a client is not installed, or failed
	}
	compare(t, table(t, cells))
}

// cells returns the outcome of each row.
func (c client) cells(t *testing.T, e *endpoint) (cells []string) {
	run := c.start(t, e)
	for _, r := range rows {
		o := r.order
		if o.Model == "" {
			o.Model = "fake"
		}
		got := run(o)
		if got.None != slices.Contains(r.without, c.name) {
			t.Errorf("%s: the client has such a function: %v", r.name, !got.None)
		}
		if got.None {
			cells = append(cells, "–")
			continue
		}
		if err := r.check(got); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		if o.Leave {
			e.expectLeft(t)
		}
		cells = append(cells, got.cell())
	}
	e.stop(t)
	return cells
}

// cell describes an outcome in the table.
func (o outcome) cell() string {
	switch {
	case o.Error == nil:
		return "yes"
	case o.Error.Status == 0:
		return "`" + o.Error.Class + "`"
	}
	return fmt.Sprintf("`%s` %d", o.Error.Class, o.Error.Status)
}

// version returns the version of a client, which go.mod or package.json names.
func (c client) version(t *testing.T) string {
	t.Helper()
	for file, pattern := range map[string]string{
		filepath.Join("..", "go.mod"): `github.com/openai/` + c.name + `/v3 v(\S+)`, "package.json": `"` + c.name + `": "(\S+)"`,
	} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		if found := regexp.MustCompile(pattern).FindSubmatch(data); found != nil {
			return string(found[1])
		}
	}
	t.Fatalf("no version of %s", c.name)
	return ""
}

// table returns the table of the page.
func table(t *testing.T, cells [][]string) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("| Feature |")
	for _, c := range clients {
		fmt.Fprintf(&out, " `%s` %s |", c.name, c.version(t))
	}
	out.WriteString("\n" + strings.Repeat("|---", len(clients)+1) + "|\n")
	for i, r := range rows {
		out.WriteString("| " + r.name + " |")
		for _, column := range cells {
			out.WriteString(" " + column[i] + " |")
		}
		out.WriteString("\n")
	}
	return out.String()
}

// compare compares the table with that of the page, or writes it.
func compare(t *testing.T, table string) {
	t.Helper()
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	head, _, _ := strings.Cut(table, "\n")
	before, rest, found := strings.Cut(string(data), head[:len("| Feature | `")])
	require.True(t, found, "the page has no such table")
	_, after, _ := strings.Cut(rest, "\n\n")
	whole := before + table + "\n" + after
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(whole), 0o600))
		return
	}
	require.Equal(t, string(data), whole, "run this test with -update")
}
