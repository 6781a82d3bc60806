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

// TestServePageFields checks that docs/reference/http.md lists each field, and how the server treats it.
func TestServePageFields(t *testing.T) {
	data, err := os.ReadFile("../../../docs/reference/http.md")
	require.NoError(t, err)
	require.Contains(t, string(data), fieldRows("/v1/chat/completions", chatFields))
	require.Contains(t, string(data), fieldRows("/v1/responses", responsesFields))
}

// fieldRows returns the rows of the table of an API's fields.
func fieldRows(name string, list fields) string {
	ways := map[string][]string{}
	for _, field := range slices.Sorted(maps.Keys(list)) {
		switch f := list[field]; {
		case f.ignored:
			ways["ignored, because it has no effect on an answer"] = append(ways["ignored, because it has no effect on an answer"], "`"+field+"`")
		case f.ignorable:
			ways["rejected, or ignored with `--ignore`"] = append(ways["rejected, or ignored with `--ignore`"], unless(field, f))
		case f.refused != "":
			ways["rejected"] = append(ways["rejected"], unless(field, f))
		default:
			ways["honored"] = append(ways["honored"], "`"+field+"`")
		}
	}
	var rows strings.Builder
	for _, way := range []string{"honored", "ignored, because it has no effect on an answer", "rejected, or ignored with `--ignore`", "rejected"} {
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", name, way, strings.Join(ways[way], ", "))
	}
	return rows.String()
}

func unless(name string, f field) string {
	if len(f.neutral) == 0 {
		return "`" + name + "`"
	}
	return "`" + name + "` (except `" + strings.Join(f.neutral, "`, `") + "`)"
}
