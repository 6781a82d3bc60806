package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// TestBatchStream checks that a resumed batch writes the stored answers to stdout again without a new request.
func TestBatchStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in, store := w.lines(6), filepath.Join(t.TempDir(), "store")
	path := w.slow(0)
	run := func(args ...string) (ids []string, err error) {
		out, err := w.command(append([]string{"batch", "-i", in, "--store", store, "--cold"}, args...)...).Output()
		for line := range bytes.Lines(out) {
			var r batch.Record
			require.NoError(t, json.Unmarshal(line, &r))
			ids = append(ids, r.ID)
		}
		slices.Sort(ids)
		return ids, err
	}
	first, err := run("-j", "1", "--max-cost-usd", "0.03")
	require.Error(t, err)
	require.Len(t, first, 3)
	whole, err := run()
	require.NoError(t, err)
	require.Len(t, whole, 6)
	require.Subset(t, whole, first)
	left, err := os.ReadDir(store)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, clitest.Survivors(path))
}

// TestBatchStopsWithoutReader closes the reader of stdout, as "| head -1" does.
func TestBatchStopsWithoutReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.slow(10 * time.Millisecond)
	leaveAfterALine(t, w.command("batch", "-i", w.lines(500), "--cold", "--quiet"), path)
}
