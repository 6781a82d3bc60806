package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

func TestPoolReportsFailedStart(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	p := agentOf(t, "threads", "dies at start, cold", patient)
	told := make(chan error, 10)
	pool := live.NewPool([]*clichain.Provider{p}, &live.PoolConfig{StartFailed: func(backend string, err error) {
		if backend == p.Name() {
			told <- err
		}
	}})
	defer pool.Close()
	_, err := pool.Backends()[0].Complete(t.Context(), clichain.Prompt("say hi"))
	require.NoError(t, err)
	require.ErrorIs(t, <-told, clichain.ErrUnauthenticated)
}
