package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// as returns the fleet for another user of its server.
func (f *fleet) as(user string) *fleet {
	return &fleet{f.world, strings.Replace(f.url, "//u:", "//"+user+":", 1)}
}

// TestRolesRunTheirCommands starts a server with the configuration of deploy/nats. An operator creates the queue, and
// then workers and submitters do with their own users all that the page for operators says.
func TestRolesRunTheirCommands(t *testing.T) {
	for _, user := range []string{"OPERATOR", "WORKER", "ALICE", "RESEARCH", "SYS"} {
		t.Setenv(user+"_PASSWORD", password)
	}
	t.Setenv("NATS_NAME", "alpha")
	t.Setenv("NATS_LISTEN", "127.0.0.1:-1")
	t.Setenv("NATS_STORE", t.TempDir())
	config, err := filepath.Abs("../../deploy/nats/server.conf")
	require.NoError(t, err)
	s := consoletest.NATSServer(t, func(o *server.Options) {
		o.StoreDir = "" // of the file
		require.NoError(t, o.ProcessConfigFile(config))
	})
	f := &fleet{newWorld(t), strings.Replace(s.ClientURL(), "//", "//u:"+password+"@", 1)}
	operator, alice := f.as("operator"), f.as("alice")
	f.fake("claude", "answer", "fine")
	code, log := operator.worker("--only", "claude", "--cold").stop(syscall.SIGTERM)
	require.Zero(t, code, log)

	w := f.as("worker").worker("--only", "claude", "--cold", "--metrics-address", "127.0.0.1:0")
	require.Equal(t, "fine\n", alice.answers("queue", "submit", "--wait", "--id", "1", "hi"))
	require.Equal(t, "fine\n", alice.answers("queue", "result", "1"))
	require.Contains(t, metrics(t, w.metrics), "\nclichain_queue_up{clichain_queue_name=\"default\"} 1\n")
	require.Regexp(t, `alice .* 1 answers`, operator.answers("queue", "status"))
	require.Empty(t, operator.answers("queue", "list"))
	code, log = w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	require.NotContains(t, log, "ermission")
}
