package conversation_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conversation"
)

// The record of the reference page is that of a conversation whose first backend reached its limit in the second turn.
func TestRecordOfThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/conversation.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, block)
	claude, codex := newFake("claude", ok, limited), newFake("codex")
	chain := clichain.ChainOf([]clichain.Backend{claude.backend(), codex.backend()}, nil)
	c := conversation.New(chain, nil)
	send(t, c, "Which tests are slow?", "claude")
	send(t, c, "And why?", "codex")
	require.JSONEq(t, string(block[1]), saved(t, c))
	load(t, string(block[1]), chain)
}
