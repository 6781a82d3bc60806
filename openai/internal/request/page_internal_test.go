package request

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestServePageFields: docs/how-to/serve.md has each field, and how the server treats it.
func TestServePageFields(t *testing.T) {
	data, err := os.ReadFile("../../../docs/how-to/serve.md")
	require.NoError(t, err)
	require.Contains(t, string(data), fieldRows("/v1/chat/completions", chatFields))
	require.Contains(t, string(data), fieldRows("/v1/responses", responsesFields))
}

// fieldRows returns the rows of the table about the fields of an API.
func fieldRows(name string, list fields) string {
	ways := map[string][]string{}
	for _, field := range slices.Sorted(maps.Keys(list)) {
		switch f := list[field]; {
		case f.ignored:
			ways["without effect on an answer, and ignored"] = append(ways["without effect on an answer, and ignored"], "`"+field+"`")
		case f.ignorable:
			ways["refused, or ignored with `--ignore`"] = append(ways["refused, or ignored with `--ignore`"], unless(field, f))
		case f.refused != "":
			ways["refused"] = append(ways["refused"], unless(field, f))
		default:
			ways["honoured"] = append(ways["honoured"], "`"+field+"`")
		}
	}
	var rows strings.Builder
	for _, way := range []string{"honoured", "without effect on an answer, and ignored", "refused, or ignored with `--ignore`", "refused"} {
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", name, way, strings.Join(ways[way], ", "))
	}
	return rows.String()
}

func unless(name string, f field) string {
	if len(f.neutral) == 0 {
		return "`" + name + "`"
	}
	return "`" + name + "` (but `" + strings.Join(f.neutral, "`, `") + "`)"
}
