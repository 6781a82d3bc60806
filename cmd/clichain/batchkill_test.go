package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBatchKilled kills a batch several times. At the end each line must have exactly one record.
func TestBatchKilled(t *testing.T) {
	t.Parallel()
	lines, kills := 50, 10
	if runtime.GOOS == "windows" { // under wine, the start of a process takes seconds
		lines, kills = 10, 4
	}
	if os.Getenv("CLICHAIN_CONFORMANCE") == "long" {
		lines, kills = 120, 20
	}
	killedBatch(t, lines, kills)
}

// TestBatchKilledOrdered is TestBatchKilled with --ordered.
func TestBatchKilledOrdered(t *testing.T) {
	t.Parallel()
	out := killedBatch(t, 20, 4, "--ordered")
	for i, r := range records(t, out) {
		if i%2 == 0 {
			require.Equal(t, fmt.Sprintf("line-%d", i), r.ID)
		}
	}
}

// killedBatch kills a batch several times, lets the last run finish, and returns the output.
func killedBatch(t *testing.T, lines, kills int, flags ...string) (out string) {
	t.Helper()
	w := newWorld(t)
	path := w.slow(20 * time.Millisecond)
	in := w.lines(lines)
	out = filepath.Join(t.TempDir(), "out.jsonl")
	batchTo := func(out string) *exec.Cmd {
		cmd := w.command(append([]string{"batch", "-i", in, "-o", out, "--cold", "--timeout", "5m", "--quiet"}, flags...)...)
		cmd.Env = append(cmd.Env, temporaryVariable()+"="+t.TempDir()) // a killed process cannot remove its temporary files
		return cmd
	}
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	said, err := batchTo(whole).CombinedOutput()
	require.NoError(t, err, "%s", said)
	want := idsOf(records(t, whole))
	require.Len(t, want, lines)

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	killed := 0
	for killed < kills && len(linesIn(t, out)) < len(want) {
		killAtSomeTime(t, batchTo(out), out, random)
		killed++
		gone(t, path)
	}
	t.Logf("killed %d times, %d of %d lines done", killed, len(linesIn(t, out)), len(want))
	said, err = batchTo(out).CombinedOutput()
	if err != nil {
		for _, line := range linesIn(t, out) {
			if bytes.Contains(line, []byte(`"error"`)) {
				t.Logf("%s", line)
			}
		}
	}
	require.NoError(t, err, "%s", said)
	require.Equal(t, want, idsOf(records(t, out)))
	require.NoDirExists(t, out+".queue")
	gone(t, path)
	return out
}

// linesIn returns the complete lines of a file, which may not exist.
func linesIn(t *testing.T, file string) [][]byte {
	data, err := os.ReadFile(file)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return slices.Collect(bytes.Lines(data))
}

// killAtSomeTime kills a batch, every second time as soon as its output has grown, else after a random time.
func killAtSomeTime(t *testing.T, cmd *exec.Cmd, out string, random *rand.Rand) {
	t.Helper()
	before := lengthOf(out)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if random.IntN(2) == 0 {
		for end := time.Now().Add(time.Minute); lengthOf(out) <= before && time.Now().Before(end) && len(ended) == 0; {
			time.Sleep(time.Millisecond)
		}
	}
	select {
	case <-time.After(time.Duration(random.IntN(300)) * time.Millisecond):
		require.NoError(t, cmd.Process.Kill())
		<-ended
	case <-ended:
	}
}
