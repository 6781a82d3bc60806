package main

import (
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/stretchr/testify/require"
)

// A worker with --drain answers the jobs that wait, and exits.
func TestFleetWorkerWithDrain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "answer", "yes")
	for _, id := range []string{"a", "b", "c"} {
		f.answers("queue", "submit", "--id", id, "hi")
	}
	_, log, code := f.run("worker", "--only", "claude", "--cold", "--drain", "--jobs", "1")
	require.Zero(t, code, log)
	require.Equal(t, 3, f.status().Answers)
}

// A drain waits for the running jobs. After its limit, it names them, and the queue stays paused.
func TestFleetDrain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "stubborn", "")
	w := f.worker("--only", "claude", "--cold", "--timeout", "1h", "--ack-wait", "5s", "--max-deliveries", "1")
	f.answers("queue", "submit", "--id", "long", "hi")
	w.await(`msg="job started" id=long`)
	_, text, code := f.run("queue", "drain", "--wait-for", "8s")
	require.Equal(t, console.ExitTimeout, code, text)
	require.Contains(t, text, "clichain: 1 job runs\n")
	require.Contains(t, text, "jobs still run after 8s: long; the queue is paused")
	require.Len(t, f.status().Pauses, 1)

	f.answers("queue", "cancel", "long")
	f.answers("queue", "drain")
	require.Zero(t, f.status().Running)
	_, text, code = f.run("queue", "drain", "--wait-for", "11m")
	require.Equal(t, console.ExitUsage, code)
	require.Contains(t, text, "use more than 0s and at most 10m0s")
}
