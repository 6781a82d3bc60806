package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/stretchr/testify/require"
)

// A second batch answers equal lines from the cache, without a CLI and without cost. Another model is another answer.
func TestBatchCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "first")
	dir := filepath.Join(t.TempDir(), "answers")
	run := func(args ...string) (stderr string, status int) {
		cmd := w.command(append([]string{"batch"}, args...)...)
		var said strings.Builder
		cmd.Stderr = &said
		_ = cmd.Run()
		return said.String(), cmd.ProcessState.ExitCode()
	}
	batch := func(in string, args ...string) (cached, asked int) {
		out := filepath.Join(t.TempDir(), "out.jsonl")
		stderr, status := run(append([]string{"-i", in, "-o", out, "--cache", dir, "--cold"}, args...)...)
		require.Zero(t, status, stderr)
		for _, r := range records(t, out) {
			if slices.Contains(r.Response.Flags, call.FlagCached) {
				require.Equal(t, "first", r.Response.Text)
				require.Zero(t, *r.Response.Usage.CostUSD)
				cached++
			} else {
				asked++
			}
		}
		require.Equal(t, cached > 0, strings.Contains(stderr, fmt.Sprintf(" (%d from the cache), ", cached)), stderr)
		return cached, asked
	}
	in := w.lines(4)
	cached, asked := batch(in)
	require.Equal(t, []int{0, 4}, []int{cached, asked})
	w.fake("claude", "answer", "second")
	data, err := os.ReadFile(in)
	require.NoError(t, err)
	more := filepath.Join(t.TempDir(), "more.jsonl")
	require.NoError(t, os.WriteFile(more, append(data, `{"prompt":"a new question"}`+"\n"...), 0o600))
	cached, asked = batch(more)
	require.Equal(t, []int{4, 1}, []int{cached, asked})
	for _, args := range [][]string{{"--only", "claude/haiku"}, {"--effort", "high"}, {"--access", "read"}, {"--cache-age", "1ns"}} {
		cached, _ = batch(in, args...)
		require.Zero(t, cached, args)
	}

	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--cache-bytes", "1"}, "--cache-bytes: needs --cache"},
		{[]string{"--cache", dir, "--cache-bytes", "0"}, "whole number above zero"},
		{[]string{"--cache", in}, "--cache: "},
		{[]string{"--cache", dir, "--nats", "nats://127.0.0.1:1"}, "--cache: has no effect with --nats"},
	} {
		stderr, status := run(append([]string{"-i", in, "-o", "-"}, test.args...)...)
		require.Equal(t, console.ExitUsage, status, stderr)
		require.Contains(t, stderr, test.want)
	}
}
