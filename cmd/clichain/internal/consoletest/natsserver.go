package consoletest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// NATSServer starts a server on a loopback port, with its store in a temporary directory.
func NATSServer(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{
		ServerName: "alpha", Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		SyncAlways: true,
	}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	require.True(t, s.ReadyForConnections(time.Minute))
	return s
}
