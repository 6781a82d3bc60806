//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// requireClean checks that the repository is as newWorkplace made it.
func (w *workplace) requireClean() {
	w.t.Helper()
	require.Equal(w.t, "old\n", w.code())
	require.Empty(w.t, w.script("git status --short"))
}

// TestBatchRepos checks that a line works in a copy, and that a line cannot choose a directory outside --repos.
func TestBatchRepos(t *testing.T) {
	t.Parallel()
	for name, extra := range map[string][]string{"warm": nil, "cold": {"--cold"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t)
			fake := w.fake("claude", "write", "code=new")
			other, bad := t.TempDir(), filepath.Join(t.TempDir(), "bad.jsonl")
			cmd := w.command(append([]string{
				"batch", "--repos", w.dir, "--check", "grep -q new code", "--bad", bad, "--only", "claude",
			}, extra...)...)
			cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"id":"inside","prompt":"Change it","access":"write","dir":%q}
{"id":"outside","prompt":"Change it","access":"write","dir":%q}
{"id":"full","prompt":"Change it","access":"full","dir":%q}
`, w.dir, other, w.dir))
			var out, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &stderr
			require.Error(t, cmd.Run())
			require.Equal(t, 1, cmd.ProcessState.ExitCode(), "two lines cannot run: %s", &stderr)
			var r batch.Record
			require.NoError(t, json.Unmarshal(out.Bytes(), &r), "%s%s", &out, &stderr)
			require.Equal(t, "inside", r.ID)
			require.NotNil(t, r.Response, "%s", &out)
			require.Contains(t, r.Response.Changes.Patch, "-old\n+new\n")
			w.requireClean()
			refused, err := os.ReadFile(bad)
			require.NoError(t, err)
			require.Equal(t, 2, strings.Count(string(refused), "\n"), "%s", refused)
			require.Contains(t, string(refused), "is outside of the permitted directories")
			require.Contains(t, string(refused), "full is more than write")
			left, err := os.ReadDir(other)
			require.NoError(t, err)
			require.Empty(t, left)
			require.Empty(t, clitest.Survivors(fake))
		})
	}
}

// TestBatchReposRejects checks that a rejected agent leaves neither a patch nor a changed file.
func TestBatchReposRejects(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=wrong")
	cmd := w.command("batch", "--repos", w.dir, "--check", "grep -q new code", "--only", "claude", "--cold")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"prompt":"Change it","access":"write","dir":%q}`, w.dir))
	out, err := cmd.Output()
	require.Error(t, err)
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	require.Contains(t, string(out), `"reason":"rejected"`)
	require.NotContains(t, string(out), `"patch"`)
	w.requireClean()
}

// TestReposRefusesFlags checks the flags that contradict --repos or have no effect without it.
func TestReposRefusesFlags(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=new")
	for want, args := range map[string][]string{
		"--check: needs --repos":               {"batch", "--check", "true"},
		"--carry: needs --repos":               {"worker", "--nats", "nats://127.0.0.1:1", "--carry", "x"},
		"--assume-isolated: has no effect":     {"batch", "--nats", "nats://127.0.0.1:1", "--assume-isolated"},
		"--repos: has no effect with --nats":   {"batch", "--nats", "nats://127.0.0.1:1", "--repos", w.dir},
		"--repos: a copy does not hold back":   {"worker", "--nats", "nats://127.0.0.1:1", "--repos", w.dir, "--max-access", "full"},
		"--repos: a copy does not hold back a": {"batch", "--repos", w.dir, "--access", "full"},
	} {
		cmd := w.command(args...)
		cmd.Stdin = strings.NewReader(`{"prompt":"hi"}`)
		said, err := cmd.CombinedOutput()
		require.Error(t, err, want)
		require.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s", said)
		require.Contains(t, string(said), want)
	}
}

// TestWorkerRepos checks that the result of a job has the patch, and that a worker does not take a job with a directory
// outside --repos.
func TestWorkerRepos(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	place := newWorkplace(t)
	f.bin, f.cache = place.bin, place.cache
	place.fake("claude", "write", "code=new")
	other := t.TempDir()
	f.answers("queue", "submit", "--id", "outside", "--access", "write", "--dir", other, "Change it")
	w := f.worker("--only", "claude", "--repos", place.dir)
	var result jetstream.Result
	text := f.answers("queue", "submit", "--id", "inside", "--wait", "--json", "--access", "write", "--dir", place.dir, "Change it")
	require.NoError(t, json.Unmarshal([]byte(text), &result))
	require.NotNil(t, result.Response, text)
	require.Contains(t, result.Response.Changes.Patch, "-old\n+new\n")
	place.requireClean()
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	status := f.status()
	require.Equal(t, 1, status.Answers)
	require.Equal(t, 1, status.Ready["normal"], "the job with the other directory")
	left, err := os.ReadDir(other)
	require.NoError(t, err)
	require.Empty(t, left)
}
