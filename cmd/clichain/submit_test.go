package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// The worker must pass the options of submit to the CLI. submit reads the files.
func TestFleetSubmitPassesOptions(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	dir, files := t.TempDir(), t.TempDir()
	record, servers := filepath.Join(files, "record"), filepath.Join(files, "mcp.json")
	require.NoError(t, os.WriteFile(servers, []byte(`{"mcpServers": {"probe": {"command": "probe"}}}`), 0o600))
	f.fake("claude", "record", record)
	id := strings.TrimSpace(f.answers("queue", "submit", "--system", "Be brief.", "--model", "opus", "--access", "write", "--dir", dir,
		"--effort", "high", "--max-turns", "3", "--env", "JOB_ID=7", "--mcp-config", servers, "--", "-p"))
	require.NoError(t, os.Remove(servers))
	w := f.worker("--max-access", "write", "--permit", "dir="+dir, "--permit", "env=JOB_*", "--permit", "mcp",
		"--permit", "model=opus", "--only", "claude", "--cold")
	require.Equal(t, "recorded\n", f.answers("queue", "result", "--wait", id))
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	r, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	args := strings.Join(r.Args, " ")
	for _, want := range []string{"--model opus", "--effort high", "--max-turns 3", "--mcp-config", "--append-system-prompt-file "} {
		require.Contains(t, args, want)
	}
	require.Equal(t, "-p", string(r.Stdin))
	require.Equal(t, dir, r.Dir)
	require.Contains(t, r.Env, "JOB_ID=7")
}
