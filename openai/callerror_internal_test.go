package openai

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

func TestEveryReasonHasARow(t *testing.T) {
	require.Len(t, rows, len(call.Reasons()))
	for _, reason := range call.Reasons() {
		require.Contains(t, rows, reason)
	}
}

// TestServePageErrors checks that docs/reference/http.md lists each reason with its error.
func TestServePageErrors(t *testing.T) {
	data, err := os.ReadFile("../docs/reference/http.md")
	require.NoError(t, err)
	require.Contains(t, string(data), errorRows())
}

// errorRows returns the rows of the table of errors.
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
