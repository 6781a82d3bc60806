package main

import (
	"syscall"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// TestFleetPurge removes results of an owner, of a prefix, and all others, and leaves a waiting job.
func TestFleetPurge(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "answer", "well")
	w := f.worker("--only", "claude", "--cold", "--no-cooldown")
	for id, owner := range map[string]string{"x1": "a", "x2": "b", "y1": "b", "z": "c"} {
		require.Equal(t, "well\n", f.answers("queue", "submit", "--wait", "--id", id, "--owner", owner, "hi"))
	}
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	f.answers("queue", "submit", "--id", "waits", "--owner", "a", "hi")
	require.Equal(t, "0\n", f.answers("queue", "purge", "--older-than", "1h"))
	require.Equal(t, "1\n", f.answers("queue", "purge", "--owner", "a"))
	require.Equal(t, "1\n", f.answers("queue", "purge", "--owner", "b", "--id-prefix", "x"))
	require.Equal(t, "well\n", f.answers("queue", "result", "y1"))
	require.JSONEq(t, `{"removed":2}`, f.answers("queue", "purge", "--all", "--json"))
	_, stderr, status := f.run("queue", "result", "y1")
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, stderr, `there is no job "y1"`)
	s := f.status()
	require.Zero(t, s.Answers)
	require.Equal(t, 1, s.Ready[jetstream.PriorityNormal])
}
