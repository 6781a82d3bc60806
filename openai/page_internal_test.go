package openai

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// TestServePage: docs/serve.md names every field and every reason, with what becomes of it.
func TestServePage(t *testing.T) {
	data, err := os.ReadFile("../docs/serve.md")
	require.NoError(t, err)
	page := string(data)
	for _, want := range []string{fieldRows("/v1/chat/completions", chatFields), fieldRows("/v1/responses", responsesFields), errorRows()} {
		require.Contains(t, page, want)
	}
}

// fieldRows are the rows of a table about the fields of an API.
func fieldRows(name string, list fields) string {
	ways := map[string][]string{}
	for _, field := range slices.Sorted(maps.Keys(list)) {
		switch f := list[field]; {
		case f.ignored:
			ways["without effect on an answer, and ignored"] = append(ways["without effect on an answer, and ignored"], "`"+field+"`")
		case f.may:
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

// errorRows are the rows of the table of errors.
func errorRows() string {
	reasons := map[row][]string{}
	var order []row
	for _, reason := range call.Reasons() {
		r := rows[reason]
		if reasons[r] == nil {
			order = append(order, r)
		}
		reasons[r] = append(reasons[r], "`"+string(reason)+"`")
	}
	slices.SortStableFunc(order, func(a, b row) int { return a.status - b.status })
	var text strings.Builder
	for _, r := range order {
		code := "the reason"
		if r.code != "" {
			code = "`" + r.code + "`"
		}
		fmt.Fprintf(&text, "| %d | `%s` | %s | %s |\n", r.status, r.kind, code, strings.Join(reasons[r], ", "))
	}
	return text.String()
}
