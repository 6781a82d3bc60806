package batchview

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/batch"
)

func TestPrintPlanShowsKinds(t *testing.T) {
	write := `access "write", dir "/src", options.allowed_tools "Bash"`
	p := &batch.Plan{Kinds: map[string]int{`access "none"`: 2, write: 1}}
	var out strings.Builder
	require.NoError(t, PrintPlan(&out, p))
	require.Contains(t, out.String(), `may           2 lines    access "none"`)
	require.Contains(t, out.String(), `may           1 line     `+write)

	p.Kinds = map[string]int{}
	for i := range maxKinds + 2 {
		p.Kinds[strings.Repeat("x", i)] = 1
	}
	out.Reset()
	require.NoError(t, PrintPlan(&out, p))
	require.Contains(t, out.String(), "  and 2 more kinds of lines\n")
}
