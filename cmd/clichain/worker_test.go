package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// A worker must answer a submitted job, and status must count it.
func TestFleet(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	fake := f.fake("claude", "answer", "secret answer")
	id := strings.TrimSpace(f.answers("queue", "submit", "secret question"))
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
	require.JSONEq(t, `{"id":"mine"}`, f.answers("queue", "submit", "--json", "--id", "mine", "--priority", "high", "secret question"))
	_, stderr, status := f.run("queue", "submit", "--id", "mine", "again")
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, stderr, `--id: the job "mine" is in the queue already, or has a result`)
	_, stderr, status = f.run("queue", "result", "mine")
	require.Equal(t, console.ExitFailed, status)
	require.Contains(t, stderr, `job "mine": the job has no result yet`)
	require.Equal(t, map[jetstream.Priority]int{"high": 1, "normal": 1, "low": 0}, f.status().Ready)

	w := f.worker("--name", "one", "-j", "2", "--only", "claude", "--cold")
	require.Equal(t, "secret answer\n", f.answers("queue", "result", "--wait", id))
	require.Equal(t, "secret answer\n", f.answers("queue", "submit", "--wait", "--system", "Be brief.", "secret question"))
	var result jetstream.Result
	require.NoError(t, json.Unmarshal([]byte(f.answers("queue", "result", "mine", "--wait", "--json")), &result))
	require.Equal(t, "one", result.Worker)
	require.Equal(t, "secret answer", result.Response.Text)
	s := f.status()
	require.Equal(t, 3, s.Answers)
	require.Equal(t, map[string]int{"claude": 3}, s.Backends)
	require.InDelta(t, 0.03, *s.Usage.CostUSD, 1e-9)
	require.Len(t, s.Workers, 1)
	require.Contains(t, strings.Join(s.Warnings, "\n"), "--nats-monitor")
	require.Regexp(t, `answers +3 +3 claude`, f.answers("queue", "status"))

	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	require.Contains(t, log, `msg="draining`)
	require.Regexp(t, `msg="job answered" id=mine backend=claude duration=`, log)
	require.NotContains(t, log, "secret")
	require.Empty(t, f.status().Workers)
	require.Empty(t, clitest.Survivors(fake))
}

// A worker must keep CLIs running between jobs, and terminate them when it stops.
func TestFleetWarm(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	fake := f.warmFake("fine", "cold")
	w := f.worker("--only", "claude")
	require.Equal(t, "cold\n", f.answers("queue", "submit", "--wait", "hi"), "the process starts beside it")
	require.Eventually(t, func() bool { return f.answers("queue", "submit", "--wait", "hi") == "fine\n" }, time.Minute, time.Millisecond)
	require.NotEmpty(t, clitest.Survivors(fake))
	code, log := w.stop(os.Interrupt)
	require.Zero(t, code, log)
	require.Empty(t, clitest.Survivors(fake))
}

// After SIGTERM a worker must let running jobs continue for the grace period, and then return them to the queue.
func TestFleetDrains(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	fake := f.fake("claude", "stubborn", "")
	w := f.worker("--only", "claude", "--cold", "--timeout", "1h", "--grace", "500ms")
	f.answers("queue", "submit", "--id", "long", "hi")
	w.await(`msg="job started" id=long`)
	require.Equal(t, 1, f.status().Running)
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	require.Contains(t, log, `msg="job parked" id=long reason=canceled`)
	require.Empty(t, clitest.Survivors(fake))
	require.Equal(t, map[jetstream.Priority]int{"high": 0, "normal": 1, "low": 0}, f.status().Ready)

	f.fake("claude", "answer", "at last")
	w = f.worker("--only", "claude", "--cold")
	require.Equal(t, "at last\n", f.answers("queue", "result", "--wait", "long"))
	code, log = w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
}

// If a worker is killed, its CLIs must terminate, and another worker must answer its job.
func TestFleetWorkerKilled(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.notices(3 * time.Second)
	tmp := f.tmp
	f.tmp = t.TempDir() // a killed process cannot remove its temporary files
	fake := f.fake("claude", "hang", "")
	w := f.worker("--only", "claude", "--cold", "--timeout", "1h")
	f.answers("queue", "submit", "--id", "lost", "hi")
	w.await(`msg="job started" id=lost`)
	w.stop(syscall.SIGKILL)
	require.Eventually(t, func() bool { return len(clitest.Survivors(fake)) == 0 }, consoletest.Patience, 10*time.Millisecond)

	f.tmp = tmp
	f.fake("claude", "answer", "found")
	w = f.worker("--only", "claude", "--cold", "--name", "two")
	require.Equal(t, "found\n", f.answers("queue", "result", "--wait", "lost"))
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
}

// A usage limit must start a cooldown that status shows. The jobs must wait until it ends.
func TestFleetCooldown(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("codex", "limit", "")
	w := f.worker("--only", "codex", "--cold", "--name", "tired")
	f.answers("queue", "submit", "--id", "later", "hi")
	f.awaitStatus(func(s *jetstream.Status) bool { return s.Parked == 1 })
	s := f.status()
	require.True(t, s.NextDue.After(time.Now().Add(time.Hour)))
	require.Len(t, s.Cooldowns, 1)
	require.Contains(t, f.answers("queue", "status"), "usage_limit, for ")
	_, stderr, status := f.run("queue", "result", "later", "--wait-for", "10ms")
	require.Equal(t, console.ExitTimeout, status)
	require.Contains(t, stderr, `job "later": no result within 10ms: it stays in the queue`)
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	require.Contains(t, log, `msg="no work: every backend is in cooldown or reserved" until=`)
	require.Contains(t, log, `msg="job parked" id=later reason=usage_limit until=`)
}

// If a signal interrupts submit --wait, the job must stay in the queue.
func TestFleetWaitInterrupted(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	cmd := f.command("queue", "submit", "--wait", "--id", "mine", "hi")
	cmd.Env = append(cmd.Env, "NATS_URL="+f.url)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	f.awaitStatus(func(s *jetstream.Status) bool { return s.Ready[jetstream.PriorityNormal] == 1 })
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.Equal(t, console.ExitInterrupted, cmd.ProcessState.ExitCode())
	require.Contains(t, stderr.String(), `job "mine" stays in the queue`)
}

// Only one process at a time may open a queue in a directory, and only this user may access the directory.
func TestFleetStore(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.url = ""
	f.fake("claude", "answer", "embedded")
	store := t.TempDir() + "/store"
	f.answers("queue", "submit", "--store", store, "--id", "mine", "hi")
	info, err := os.Stat(store)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.Regexp(t, `waiting +1 +1 normal`, f.answers("queue", "status", "--store", store))
	w := f.worker("--store", store, "--only", "claude", "--cold")
	_, stderr, status := f.run("queue", "status", "--store", store)
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, stderr, "is in use by process ")
	w.await(`msg="job answered" id=mine`)
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	require.Equal(t, "embedded\n", f.answers("queue", "result", "mine", "--store", store))
}

// The health server must report the state of the worker, also while the worker drains.
func TestFleetHealth(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "hang", "")
	w := f.worker("--only", "claude", "--cold", "--name", "one", "--health", "127.0.0.1:0", "--timeout", "1h", "-j", "3")
	get := func(path string) (int, string) {
		response, err := http.Get("http://" + w.health + path)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(body)
	}
	code, text := get("/healthz")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "ok\n", text)
	f.answers("queue", "submit", "--id", "long", "secret question")
	w.await(`msg="job started" id=long`)
	code, text = get("/status")
	require.Equal(t, http.StatusOK, code)
	require.JSONEq(t, `{"name":"one","slots":3,"running":1,"done":0,"failed":0,"parked":0,"connected":true,"draining":false}`, text)

	require.NoError(t, w.Process.Signal(syscall.SIGTERM))
	w.await(`msg="draining`)
	code, text = get("/healthz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "draining\n", text)
	w.stop(syscall.SIGKILL) // the grace period is too long for a test
	require.Eventually(t, func() bool { return len(clitest.Survivors(f.bin)) == 0 }, consoletest.Patience, 10*time.Millisecond)
	f.tmp = t.TempDir() // a killed process cannot remove its temporary files
}

// A worker must not start without an available backend. No command may accept a wrong password.
func TestFleetErrors(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	_, stderr, status := f.run("worker", "--only", "claude")
	require.Equal(t, console.ExitNothing, status)
	require.Contains(t, stderr, "not_installed")
	require.Empty(t, f.status().Workers)
	f.fake("claude", "answer", "no")
	f.url = strings.Replace(f.url, password, "wrong", 1)
	for _, args := range [][]string{{"worker"}, {"queue", "status"}, {"queue", "submit", "hi"}, {"queue", "list"}, {"queue", "result", "x"}} {
		_, stderr, status := f.run(args...)
		require.Equal(t, console.ExitUsage, status)
		require.Contains(t, stderr, "refuses the login")
		require.NotContains(t, stderr, "wrong")
	}
}
