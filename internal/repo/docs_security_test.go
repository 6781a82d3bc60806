package repo_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// Every test that the security page names exists.
func TestSecurityPage(t *testing.T) {
	text, err := os.ReadFile("docs/explanation/security.md")
	require.NoError(t, err)
	tests := testFunctions(t)
	named := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, named)
	for _, name := range named {
		require.True(t, tests[name[1]], "there is no %s", name[1])
	}
}

// tableRows returns the cells of the rows of a table, by the first word of the row.
func tableRows(section string) map[string][][]string {
	rows := map[string][][]string{}
	for line := range strings.Lines(section) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "| ")
		if !ok {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "|"), " |")
		name, _, _ := strings.Cut(cells[0], " ")
		rows[name] = append(rows[name], cells)
	}
	return rows
}

// Each built-in spec has one row in both tables about hostile directories. The row names the test with the real CLI,
// unless no package registry has that CLI.
func TestSecurityTables(t *testing.T) {
	page := chaintest.Read(t, "docs/explanation/security.md")
	for heading, test := range map[string]string{
		"## Without access":             "(?i)`Test%sBelowHostileDirectory`",
		"## AccessRead and AccessWrite": "(?i)`Test%sInHostileDirectory`",
	} {
		rows := tableRows(section(t, page, heading))
		for _, spec := range specs.Every() {
			require.Len(t, rows[spec.Name], 1, "rows of %s below %q", spec.Name, heading)
			tests := rows[spec.Name][0][len(rows[spec.Name][0])-1]
			if len(spec.Packages) == 0 {
				require.NotContains(t, tests, "`", "%s is in a registry, after all: name its package in its spec", spec.Name)
				continue
			}
			require.Regexp(t, fmt.Sprintf(test, spec.Name), tests, "%s below %q", spec.Name, heading)
		}
		require.Len(t, rows, len(specs.Every())+1, "rows below %q of other things than specs and the header", heading)
	}
}
