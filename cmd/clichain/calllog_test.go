package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/clichain/clichain/calllog"
	"github.com/stretchr/testify/require"
)

// loggingConfig returns a settings file that turns on the log of calls.
func loggingConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("usage.log: on\n"), 0o600))
	return path
}

// logged returns the records of the log, which must be valid.
func (w *world) logged() (list []calllog.Record) {
	w.t.Helper()
	log, err := calllog.Open(filepath.Join(w.cache, "clichain", "calls"), nil)
	require.NoError(w.t, err)
	for r, err := range log.Records(calllog.Filter{}) {
		require.NoError(w.t, err)
		list = append(list, r)
	}
	report, err := log.Verify(w.t.Context())
	require.NoError(w.t, err)
	require.Empty(w.t, report.Problems)
	return list
}

func TestServeLogsCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "fine")
	s := w.serving("--only", "claude", "--cold", "--config", loggingConfig(t))
	s.answers(served1)
	s.answers(served1)
	status, log := s.stop(syscall.SIGTERM)
	require.Zero(t, status, log)
	list := w.logged()
	require.Len(t, list, 2)
	require.Equal(t, "claude", list[0].Backend)
	require.InDelta(t, 0.01, *list[0].Usage.CostUSD, 1e-9)
	require.Empty(t, list[0].Prompt)
}

func TestWorkerLogsCalls(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "answer", "fine")
	w := f.worker("--only", "claude", "--cold", "--config", loggingConfig(t))
	require.Equal(t, "fine\n", f.answers("queue", "submit", "--wait", "hi"))
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	list := f.logged()
	require.Len(t, list, 1)
	require.Equal(t, "claude", list[0].Backend)
	require.Empty(t, list[0].Reason)
}
