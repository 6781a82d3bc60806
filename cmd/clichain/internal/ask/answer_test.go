package ask

import (
	"bytes"
	"testing"

	"github.com/clichain/clichain"
	"github.com/stretchr/testify/require"
)

// TestTerminalText checks that the text of a model cannot send control codes to the terminal.
func TestTerminalText(t *testing.T) {
	var out, status bytes.Buffer
	s := &textStream{out: &out, err: &status, clean: true}
	for _, e := range []clichain.Event{
		{Kind: clichain.EventDelta, Text: "a\x1b]0;title\x07"},
		{Kind: clichain.EventToolUse, Backend: "b", Name: "x\x1b[2J\ny"},
		{Kind: clichain.EventDelta, Text: "é\tz\r"},
		{Kind: clichain.EventDone, Response: &clichain.Response{Text: "whole"}},
	} {
		require.NoError(t, s.show(e))
	}
	require.Equal(t, "a]0;title\n\né\tz\n", out.String())
	require.Equal(t, "b uses x[2J y\n", status.String())
}

func TestWarningsOfFailure(t *testing.T) {
	var out bytes.Buffer
	printWarnings(&out, nil, &clichain.ChainError{Attempts: []clichain.Attempt{
		{Err: &clichain.BackendError{Backend: "a", Warnings: []string{"the run changed\nx"}}}, {Err: &clichain.BackendError{Backend: "b"}},
	}})
	require.Equal(t, "clichain: a: warning: the run changed x\n", out.String())
}
