package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// TestQueueLimits sets the limits of owners, which submit names in its error. A job that a killed worker ran does not
// use up the limit of its owner.
func TestQueueLimits(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.notices(3 * time.Second)
	require.Equal(t, "{}\n", f.answers("queue", "limits"))
	file := filepath.Join(t.TempDir(), "limits.yaml")
	const limits = "default:\n  running: 1\n  queued: 2\n  max_priority: normal\n"
	require.NoError(t, os.WriteFile(file, []byte(limits), 0o600))
	require.Equal(t, limits, f.answers("queue", "limits", "--set", file))
	require.Equal(t, limits, f.answers("queue", "limits"))

	_, stderr, status := f.run("queue", "submit", "--owner", "alice", "--priority", "high", "hi")
	require.Equal(t, console.ExitFailed, status)
	require.Contains(t, stderr, "alice may not use the priority high: use at most normal")
	for _, id := range []string{"1", "2"} {
		f.answers("queue", "submit", "--owner", "alice", "--id", id, "hi")
	}
	_, stderr, status = f.run("queue", "submit", "--owner", "alice", "hi")
	require.Equal(t, console.ExitFailed, status)
	require.Contains(t, stderr, "alice has 2 jobs in the queue, and may have 2")

	tmp := f.tmp
	f.tmp = t.TempDir() // a killed process cannot remove its temporary files
	fake := f.fake("claude", "hang", "")
	killed := f.worker("--only", "claude", "--cold", "-j", "4")
	f.awaitStatus(func(s *jetstream.Status) bool { return s.Running == 1 })
	killed.stop(syscall.SIGKILL)
	require.Eventually(t, func() bool { return len(clitest.Survivors(fake)) == 0 }, consoletest.Patience, 10*time.Millisecond)
	f.tmp = tmp
	f.fake("claude", "answer", "fine")
	f.worker("--only", "claude", "--cold")
	s := f.awaitStatus(func(s *jetstream.Status) bool { return s.Answers == 2 })
	require.Equal(t, 1, s.Owners[0].Limits.Running)

	require.NoError(t, os.WriteFile(file, []byte("default: {run: 1}"), 0o600))
	_, stderr, status = f.run("queue", "limits", "--set", file)
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, stderr, `unknown field "run"`)
	require.Equal(t, limits, f.answers("queue", "limits"))
}
