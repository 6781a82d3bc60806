package batch

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/batch/internal/input"
)

func TestSourceRejectsDuplicateIDs(t *testing.T) {
	ids, src := newLedger(), &source{parser: &input.Parser{}}
	line := input.Line{Number: 1, Text: []byte(`{"id":"a","prompt":"hi"}`)}
	require.True(t, ids.done("a", Digest{}, false))
	item, err := src.item(t.Context(), line, ids)
	require.NoError(t, err)
	require.True(t, item.done)
	_, err = src.item(t.Context(), line, ids)
	require.ErrorIs(t, err, errTwice)
	_, err = src.item(t.Context(), input.Line{Number: 1, Long: true}, ids)
	require.ErrorContains(t, err, "is longer than 16 MiB")
}
