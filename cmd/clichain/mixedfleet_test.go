package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFleetMixed: of two workers with different CLIs each answers the jobs that it can, and the other leaves them to it.
func TestFleetMixed(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "answer", "of claude")
	f.fake("codex", "answer", "of codex")
	f.answers("submit", "--id", "for-codex", "--model", "codex/gpt-5", "hi")
	f.answers("submit", "--id", "for-claude", "--model", "claude/opus", "hi")
	f.answers("submit", "--id", "with-turns", "--max-turns", "3", "hi") // which codex does not have
	codex := f.worker("--only", "codex", "--cold", "--name", "one")
	require.Contains(t, f.answers("result", "--wait", "for-codex"), "of codex")
	require.Empty(t, f.answers("dead", "list"))
	claude := f.worker("--only", "claude", "--cold", "--name", "two")
	require.Contains(t, f.answers("result", "--wait", "for-claude"), "of claude")
	require.Contains(t, f.answers("result", "--wait", "with-turns"), "of claude")
	require.Regexp(t, `two +0/4 +protocol 2, .*claude`, f.answers("status"))
	for _, w := range []*working{codex, claude} {
		code, log := w.stop(syscall.SIGTERM)
		require.Zero(t, code, log)
	}
}
