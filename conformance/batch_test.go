package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
)

// Batch and xargs run the same prompts in turn. Batch uses warm processes, and xargs starts claude for each prompt.
func TestBatchVersusXargs(t *testing.T) {
	long(t)
	program := command(t)
	const prompts, slots, rounds = 40, "2", 3
	var batch, xargs []time.Duration
	var batchBytes, xargsBytes int
	for range rounds {
		took, sent := timed(t, func(h home.Home) *exec.Cmd {
			in := filepath.Join(h.Work, "in.jsonl")
			var lines strings.Builder
			for i := range prompts {
				fmt.Fprintf(&lines, `{"id":"%d","prompt":"say hi, number %d"}`+"\n", i, i)
			}
			require.NoError(t, os.WriteFile(in, []byte(lines.String()), 0o600))
			_, _, cmd := commandIn(t, program, h, "batch", "-i", in, "-o", filepath.Join(h.Work, "out.jsonl"),
				"-j", slots, "--only", "claude", "--timeout", "120s", "--pass-env", "LOOPBACK_*")
			return cmd
		}, func(h home.Home) { requireAnswers(t, filepath.Join(h.Work, "out.jsonl"), prompts) })
		batch, batchBytes = append(batch, took), sent

		var out bytes.Buffer
		took, sent = timed(t, func(h home.Home) *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), "xargs", "-P", slots, "-I{}", h.Binary, "-p", "{}")
			var lines strings.Builder
			for i := range prompts {
				fmt.Fprintf(&lines, "say hi, number %d\n", i)
			}
			cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = h.Work, append(h.Env, "PATH="+os.Getenv("PATH")), strings.NewReader(lines.String()), &out
			return cmd
		}, func(home.Home) { require.Equal(t, prompts, strings.Count(out.String(), hello)) })
		xargs, xargsBytes = append(xargs, took), sent
	}
	ratio := float64(middle(xargs)) / float64(middle(batch))
	t.Logf("%d prompts, %s at once: batch %v and %d bytes sent, xargs %v and %d bytes, %.1f times (batch %v, xargs %v)",
		prompts, slots, middle(batch), batchBytes, middle(xargs), xargsBytes, ratio, batch, xargs)
	require.Greater(t, ratio, 2.0)
}

// timed runs a command in a new home. It returns the duration and the bytes that the command sent to the model.
func timed(t *testing.T, make func(home.Home) *exec.Cmd, check func(home.Home)) (took time.Duration, sent int) {
	t.Helper()
	server := loopback.New(t, loopback.Always(loopback.Text(hello)))
	h := home.New(t, "claude", server.URL, home.LoggedIn)
	cmd := make(h)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	require.NoError(t, cmd.Run(), "%s", &stderr)
	took = time.Since(began).Round(time.Millisecond)
	check(h)
	require.Empty(t, living(t, h))
	for _, q := range server.Requests() {
		sent += len(q.Body)
	}
	return took, sent
}

// requireAnswers checks that a batch has one answer for each line.
func requireAnswers(t *testing.T, file string, n int) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	ids := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		var record struct {
			ID       string
			Response *struct{ Text string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		require.NotNil(t, record.Response, line)
		require.Equal(t, hello, record.Response.Text)
		ids[record.ID] = true
	}
	require.Len(t, ids, n)
}

func TestBatch(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			longUnless(t, isFirst(name))
			t.Parallel()
			server := loopback.New(t, loopback.Always(loopback.Text(hello)))
			h := home.New(t, name, server.URL, home.LoggedIn)
			stdout, stderr, cmd := commandIn(t, program, h, "batch", "-i", "-", "-o", "-", "-j", "1",
				"--only", name, "--timeout", "120s", "--pass-env", "LOOPBACK_*")
			cmd.Stdin = strings.NewReader(`{"prompt":"hi","model":"` + liveModel(name) + `"}` + "\n")
			require.NoError(t, cmd.Run(), "%s%s", stdout, stderr)
			require.Contains(t, stdout.String(), hello)
			require.Equal(t, 1, strings.Count(stdout.String(), "\n"), "%s", stdout)
			require.Empty(t, living(t, h))
		})
	}
}

func middle(d []time.Duration) time.Duration { return slices.Sorted(slices.Values(d))[len(d)/2] }
