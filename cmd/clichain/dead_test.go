package main

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// crashAtWork installs a claude that crashes while it uses a tool.
func (f *fleet) crashAtWork() {
	steps := append([]clitest.Step{{ReadStdin: true}}, stdout(
		`{"type":"system","subtype":"init","session_id":"s1","model":"claude-opus-4-8","apiKeySource":"none"}`,
		`{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"tool_use","id":"t1","name":"Write","input":{}}]}}`)...)
	steps = append(steps, clitest.Step{Stderr: "broken\n"}, clitest.Exit(7))
	_, err := clitest.Install(f.bin, "claude", clitest.Scenario{Steps: steps})
	require.NoError(f.t, err)
}

// TestFleetDead lists, retries and drops dead letters. Jobs with side effects need a flag.
func TestFleetDead(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.crashAtWork()
	w := f.worker("--max-access", "write", "--permit", "dir="+os.TempDir(), "--only", "claude", "--cold", "--no-cooldown")
	_, stderr, status := f.run("queue", "submit", "--wait", "--id", "harmless", "secret question")
	require.Equal(t, console.ExitFailed, status)
	require.Contains(t, stderr, `job "harmless" failed: `)
	out, stderr, status := f.run("queue", "submit", "--wait", "--json", "--id", "acted", "--access", "write", "--dir", t.TempDir(), "go")
	require.Equal(t, console.ExitFailed, status, stderr)
	require.Contains(t, out, `"failure"`)

	letters := f.jobs("--state", "dead")
	require.Len(t, letters, 2)
	require.Equal(t, clichain.ReasonExit, letters[0].Reason)
	require.Equal(t, clichain.AccessWrite, letters[1].Access)
	require.False(t, letters[0].SideEffects)
	require.True(t, letters[1].SideEffects)
	text := f.answers("queue", "list", "--reason", "exit")
	require.NotContains(t, text, "secret")
	require.Regexp(t, `(?s)^ID .*\nharmless +dead +u +normal +\d+ s +exit: .*\nacted +dead .* exit, may have changed something: `, text)
	require.Empty(t, f.answers("queue", "list", "--reason", "timeout"))
	out, _, status = f.run("queue", "result", "harmless", "--json")
	require.Equal(t, console.ExitFailed, status)
	require.Contains(t, out, "secret question")

	f.fake("claude", "answer", "repaired")
	_, stderr, status = f.run("queue", "retry", "--all")
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, stderr, "2 jobs selected: give --yes to retry them")
	out, stderr, status = f.run("queue", "retry", "--all", "--yes")
	require.Equal(t, console.ExitFailed, status)
	require.Equal(t, "harmless\n", out)
	require.Contains(t, stderr, `1 job was not retried, such as "acted": the agent may have changed something`)
	require.Equal(t, "repaired\n", f.answers("queue", "result", "--wait", "harmless"))
	require.Equal(t, "acted\n", f.answers("queue", "retry", "acted", "--side-effects"))
	require.Equal(t, "repaired\n", f.answers("queue", "result", "--wait", "acted"))
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	require.NotContains(t, log, "secret")
	require.NotContains(t, log, "broken", "what a CLI said")
}

// TestFleetDrop removes dead letters and a waiting job.
func TestFleetDrop(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "crash", "broken")
	w := f.worker("--max-access", "write", "--permit", "dir="+os.TempDir(), "--only", "claude", "--cold", "--no-cooldown")
	for _, id := range []string{"a", "b", "c"} {
		_, _, status := f.run("queue", "submit", "--wait", "--id", id, "hi")
		require.Equal(t, console.ExitFailed, status)
	}
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	f.answers("queue", "submit", "--id", "waits", "hi")
	require.Equal(t, "a\nwaits\n", f.answers("queue", "drop", "a", "waits"))
	require.Equal(t, "b\nc\n", f.answers("queue", "drop", "--all", "--yes"))
	require.Empty(t, f.answers("queue", "drop", "--all"))
	s := f.status()
	require.Zero(t, s.Failures+s.Ready[jetstream.PriorityNormal])
	for _, args := range [][]string{{"drop", "a"}, {"retry", "a"}} {
		_, stderr, status := f.run(append([]string{"queue"}, args...)...)
		require.Equal(t, console.ExitUsage, status)
		require.Contains(t, stderr, `there is no job "a" in the queue`)
	}
}

// jobs returns the jobs that "queue list" prints.
func (f *fleet) jobs(flags ...string) (jobs []jetstream.JobInfo) {
	f.t.Helper()
	for line := range strings.Lines(f.answers(append([]string{"queue", "list", "--json"}, flags...)...)) {
		var i jetstream.JobInfo
		require.NoError(f.t, json.Unmarshal([]byte(line), &i))
		jobs = append(jobs, i)
	}
	return jobs
}

// jobIDs returns the ids of the jobs that "queue list" prints.
func (f *fleet) jobIDs(flags ...string) (ids []string) {
	f.t.Helper()
	for _, i := range f.jobs(flags...) {
		ids = append(ids, i.ID)
	}
	return ids
}
