package request

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the table of fields")

// TestServePageFields checks that docs/reference/http.md lists each field, and how the server treats it.
func TestServePageFields(t *testing.T) {
	const page = "../../../docs/reference/http.md"
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	if *update {
		const head = "| API | Treatment | Fields |\n|---|---|---|\n"
		before, rest, found := strings.Cut(string(data), head)
		require.True(t, found)
		_, after, _ := strings.Cut(rest, "\n\n")
		data = []byte(before + head + fieldRows("/v1/chat/completions", chatFields) + fieldRows("/v1/responses", responsesFields) + "\n" + after)
		require.NoError(t, os.WriteFile(page, data, 0o600))
	}
	require.Contains(t, string(data), fieldRows("/v1/chat/completions", chatFields))
	require.Contains(t, string(data), fieldRows("/v1/responses", responsesFields))
}

// The treatments of fields, in the order of the table.
const (
	isHonored  = "honored"
	isInert    = "ignored, because it has no effect on an answer"
	isReported = "ignored and reported; rejected with `--strict`"
	isRejected = "rejected"
)

// fieldRows returns the rows of the table of an API's fields.
func fieldRows(name string, list fields) string {
	ways := map[string][]string{}
	for _, field := range slices.Sorted(maps.Keys(list)) {
		f, way := list[field], isHonored
		switch {
		case f.inert:
			way = isInert
		case f.reported:
			way = isReported
		case f.refused != "":
			way = isRejected
		}
		ways[way] = append(ways[way], unless(field, f))
	}
	var rows strings.Builder
	for _, way := range []string{isHonored, isInert, isReported, isRejected} {
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
