package batch

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/jetstream"
)

func TestRecordLineEscapesNoHTML(t *testing.T) {
	line, err := (&Record{ID: "n", Error: &jetstream.Failure{Reason: "exit", Message: "<&>"}}).line()
	require.NoError(t, err)
	require.Equal(t, `{"id":"n","error":{"reason":"exit","message":"<&>"}}`+"\n", string(line))
}
