package jetstream_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// configOnPage returns the configuration of a server that the page about operations shows.
func configOnPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "how-to", "operations.md"))
	require.NoError(t, err)
	_, config, found := strings.Cut(string(page), "```text\nauthorization {")
	require.True(t, found)
	config, _, _ = strings.Cut("authorization {"+config, "```")
	return config
}

// The permissions of a user of the server fix the owner and the priorities of its jobs.
func TestPermissionsFixTheOwner(t *testing.T) {
	t.Setenv("OPERATOR_PASSWORD", "x")
	t.Setenv("ALICE_PASSWORD", "x")
	file := filepath.Join(t.TempDir(), "server.conf")
	require.NoError(t, os.WriteFile(file, []byte(configOnPage(t)), 0o600))
	s := listen(t, func(o *server.Options) { require.NoError(t, o.ProcessConfigFile(file)) })
	connect := func(user string, options ...nats.Option) *nats.Conn {
		nc, err := nats.Connect(s.ClientURL(), append(options, nats.UserInfo(user, "x"))...)
		require.NoError(t, err)
		t.Cleanup(nc.Close)
		return nc
	}
	all := open(t, connect("operator"), nil)
	violations := make(chan error, 100)
	q := open(t, connect("alice", nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		violations <- err
	})), nil)
	low := owned("low", "alice")
	low.Priority = jetstream.PriorityLow
	submit(t, q, owned("own", "alice"), low)
	require.Empty(t, violations)

	high := owned("high", "alice")
	high.Priority = jetstream.PriorityHigh
	for _, j := range []jetstream.Job{owned("bob", "bob"), job("none"), high} {
		submit(t, all, func() jetstream.Job { other := j; other.ID += " of the operator"; return other }())
		ctx, cancel := context.WithCancel(t.Context())
		var violation error
		go func() {
			violation = <-violations
			cancel()
		}()
		require.Error(t, q.Submit(ctx, j), j.ID)
		<-ctx.Done()
		require.ErrorContains(t, violation, "permissions violation")
	}
	work(t, all, echo(), nil)
	got := collect(t, all, 5)
	require.Equal(t, "alice", got["own"].Owner)
	require.Equal(t, "alice", got["low"].Owner)
	for _, id := range []string{"bob", "none", "high"} {
		_, err := all.Result(t.Context(), id)
		require.ErrorIs(t, err, jetstream.ErrNotFound, id)
	}
}
