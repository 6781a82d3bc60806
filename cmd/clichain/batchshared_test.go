package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// TestBatchShared runs two batches with the same ids on one queue. Each batch must get its own answers from a worker,
// and leave no job in the queue. The test kills one of the batches.
func TestBatchShared(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	path := f.slow(10 * time.Millisecond)
	in, dir := f.lines(30), t.TempDir()
	one, two := filepath.Join(dir, "one.jsonl"), filepath.Join(dir, "two.jsonl")
	batchTo := func(out string, args ...string) *exec.Cmd {
		return f.command(append([]string{"batch", "-i", in, "-o", out, "--nats", f.url}, args...)...)
	}
	alone := batchTo(one, "--budget", "1ms")
	said, err := alone.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, console.ExitTimeout, alone.ProcessState.ExitCode(), "%s", said)
	require.Contains(t, string(said), `no worker is connected to the queue "default": jobs wait for a worker`)

	w := f.worker("-j", "2", "--only", "claude", "--cold")
	killed := batchTo(one, "--quiet")
	require.NoError(t, killed.Start())
	require.Eventually(t, func() bool { return lengthOf(one) > 0 }, 60*time.Second, time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())

	other := batchTo(two, "--quiet")
	require.NoError(t, other.Start())
	said, err = batchTo(one, "--quiet").CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.NoError(t, other.Wait())
	ids := idsOf(records(t, one))
	require.Len(t, ids, 30)
	require.Equal(t, ids, idsOf(records(t, two)))

	stream := f.command("batch", "-i", in, "--nats", f.url, "--quiet", "--ordered")
	out, err := stream.Output()
	require.NoError(t, err)
	ordered := regexp.MustCompile(`"id":"line-(\d+)"`).FindAllStringSubmatch(string(out), -1)
	require.Len(t, ordered, 15)
	for i, id := range ordered {
		require.Equal(t, fmt.Sprint(2*i), id[1])
	}
	f.awaitStatus(func(s *jetstream.Status) bool { // the worker acknowledges the last job after it stores the result
		return s.Answers+s.Failures+s.Running == 0
	})
	require.NoDirExists(t, one+".nats")
	status, log := w.stop(syscall.SIGTERM)
	require.Zero(t, status, log)
	require.Empty(t, clitest.Survivors(path))

	stream = f.command("batch", "-i", in, "--nats", f.url)
	require.NoError(t, stream.Start())
	f.awaitStatus(func(s *jetstream.Status) bool { return s.Ready["normal"] > 0 })
	require.NoError(t, stream.Process.Signal(os.Interrupt))
	require.Error(t, stream.Wait())
	require.Equal(t, 130, stream.ProcessState.ExitCode())
	require.Zero(t, f.status().Ready["normal"], "what nobody will ask for is taken out of the queue")
}

// A run without unanswered lines must also remove the results of an earlier run from the queue.
func TestBatchRemovesStoredResults(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.slow(time.Millisecond)
	in, out := filepath.Join(t.TempDir(), "in.jsonl"), filepath.Join(t.TempDir(), "out.jsonl")
	var lines, records strings.Builder
	for n := range 20 {
		fmt.Fprintf(&lines, `{"id":"%d","prompt":"question"}`+"\n", n)
		fmt.Fprintf(&records, `{"id":"%d","response":{"text":"hi"}}`+"\n", n)
	}
	require.NoError(t, os.WriteFile(in, []byte(lines.String()), 0o600))
	killed := f.command("batch", "-i", in, "-o", out, "--nats", f.url, "--quiet")
	require.NoError(t, killed.Start())
	f.awaitStatus(func(s *jetstream.Status) bool { return s.Ready["normal"] == 20 })
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	w := f.worker("-j", "2", "--only", "claude", "--cold")
	f.awaitStatus(func(s *jetstream.Status) bool { return s.Answers == 20 })

	// This file simulates a kill after the write.
	require.NoError(t, os.WriteFile(out, []byte(records.String()), 0o600))
	f.answers("batch", "-i", in, "-o", out, "--nats", f.url, "--quiet")
	require.Zero(t, f.status().Answers)
	status, log := w.stop(syscall.SIGTERM)
	require.Zero(t, status, log)
}
