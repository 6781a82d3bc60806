package main

import (
	"syscall"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// deadAndWaiting makes a fleet with dead letters of two owners, a canceled job, and two jobs that wait.
func deadAndWaiting(t *testing.T) *fleet {
	f := newFleet(t)
	f.fake("claude", "crash", "broken")
	w := f.worker("--only", "claude", "--cold", "--no-cooldown")
	for id, owner := range map[string]string{"b1.x": "a", "b2.x": "a", "b2.y": "b"} {
		_, _, status := f.run("queue", "submit", "--wait", "--id", id, "--owner", owner, "hi")
		require.Equal(t, console.ExitFailed, status)
	}
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	for _, id := range []string{"b2.canceled", "b2.w1", "b3.w2"} {
		f.answers("queue", "submit", "--id", id, "--owner", "a", "hi")
	}
	f.answers("queue", "cancel", "b2.canceled")
	return f
}

func TestFleetListsJobs(t *testing.T) {
	t.Parallel()
	f := deadAndWaiting(t)
	for name, test := range map[string]struct{ flags, ids []string }{
		"all":             {nil, []string{"b2.w1", "b3.w2", "b1.x", "b2.x", "b2.y", "b2.canceled"}},
		"state":           {[]string{"--state", "waiting"}, []string{"b2.w1", "b3.w2"}},
		"owner":           {[]string{"--owner", "b"}, []string{"b2.y"}},
		"batch and owner": {[]string{"--batch", "b2", "--owner", "a"}, []string{"b2.w1", "b2.x", "b2.canceled"}},
		"reason":          {[]string{"--reason", "canceled"}, []string{"b2.canceled"}},
		"nothing":         {[]string{"--state", "running"}, nil},
		"exact limit":     {[]string{"--state", "waiting", "--limit", "2"}, []string{"b2.w1", "b3.w2"}},
	} {
		t.Run(name, func(t *testing.T) { require.ElementsMatch(t, test.ids, f.jobIDs(test.flags...)) })
	}
	for _, format := range [][]string{nil, {"--json"}} {
		out, stderr, status := f.run(append([]string{"queue", "list", "--state", "waiting", "--limit", "1"}, format...)...)
		require.Zero(t, status)
		require.Contains(t, out, "b2.w1")
		require.NotContains(t, out, "b3.w2")
		require.Equal(t, "clichain: more than 1 job exists: raise --limit, or select fewer jobs\n", stderr)
	}
	_, stderr, status := f.run("queue", "list", "--state", "waiting", "--limit", "2")
	require.Zero(t, status)
	require.Empty(t, stderr)
	for _, args := range [][]string{{"--state", "lost"}, {"--limit", "0"}, {"--owner", "A.B"}, {"x"}} {
		_, _, status := f.run(append([]string{"queue", "list"}, args...)...)
		require.Equal(t, console.ExitUsage, status, args)
	}
}

// TestFleetSelectsDeadLetters retries and drops by owner, batch and reason. A canceled job is retried only by its id or
// reason.
func TestFleetSelectsDeadLetters(t *testing.T) {
	t.Parallel()
	f := deadAndWaiting(t)
	for _, args := range [][]string{
		{"retry", "--owner", "a"}, {"drop", "--owner", "a"}, {"drop", "--batch", "b2"}, {"retry", "--reason", "exit"},
		{"cancel", "--all"}, {"move", "--all", "--priority", "high"},
	} {
		_, stderr, status := f.run(append([]string{"queue"}, args...)...)
		require.Equal(t, console.ExitUsage, status)
		require.Contains(t, stderr, "selected: give --yes to "+args[0]+" them", args)
	}
	require.Len(t, f.jobIDs("--state", "dead"), 4, "nothing has changed")
	require.Equal(t, "b1.x\n", f.answers("queue", "retry", "--batch", "b1", "--reason", "exit", "--yes"))
	require.Equal(t, "b2.x\n", f.answers("queue", "retry", "--owner", "a", "--yes"))
	require.Equal(t, "b2.y\n", f.answers("queue", "retry", "--all", "--yes"))
	require.Equal(t, []string{"b2.canceled"}, f.jobIDs("--state", "dead"))
	require.Empty(t, f.answers("queue", "retry", "--all"))
	require.Equal(t, "b2.canceled\n", f.answers("queue", "retry", "--reason", "canceled", "--yes"))
	f.answers("queue", "cancel", "b2.canceled")
	require.Equal(t, "b2.canceled\n", f.answers("queue", "retry", "b2.canceled"))

	f.answers("queue", "move", "--owner", "a", "--priority", "low", "--yes")
	require.Len(t, f.jobs("--state", "waiting"), 6)
	for _, i := range f.jobs("--owner", "a") {
		require.Equal(t, jetstream.PriorityLow, i.Priority)
	}
	require.Empty(t, f.answers("queue", "move", "--owner", "a", "--priority", "low", "--yes"), "they have it already")
	f.answers("queue", "cancel", "--all", "--yes")
	require.Equal(t, "b1.x\n", f.answers("queue", "drop", "--owner", "a", "--batch", "b1", "--yes"))
	require.Len(t, f.jobs("--state", "dead"), 5)
	_, stderr, status := f.run("queue", "retry", "--reason", "exit", "--yes", "b2.x")
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, stderr, "which jobs?")
}
