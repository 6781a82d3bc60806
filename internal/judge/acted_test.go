package judge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// A failed result shows that the model has begun to answer if it counts tokens of any kind.
func TestFailedResultWithTokensIsTurn(t *testing.T) {
	for name, test := range map[string]struct {
		usage call.Usage
		want  bool
	}{
		"none":        {call.Usage{}, false},
		"only turns":  {call.Usage{Turns: 1}, false},
		"input":       {call.Usage{InputTokens: 1}, true},
		"output":      {call.Usage{OutputTokens: 1}, true},
		"cache read":  {call.Usage{CacheReadTokens: 1}, true},
		"cache write": {call.Usage{CacheWriteTokens: 1}, true},
		"reasoning":   {call.Usage{ReasoningTokens: 1}, true},
	} {
		require.Equal(t, test.want, ofTurn(&call.Event{Kind: call.EventResult, Failed: true, Usage: test.usage}), name)
	}
	require.True(t, ofTurn(&call.Event{Kind: call.EventResult}), "an answer")
}
