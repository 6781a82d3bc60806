package otel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/otel"
)

// Without an SDK, calls work and nothing is recorded.
func TestDefaults(t *testing.T) {
	for _, cfg := range []*otel.Config{nil, {}, {Content: true}} {
		tel, err := otel.New(cfg)
		require.NoError(t, err)
		chain := clichain.ChainOf([]clichain.Backend{fine}, &config{Hooks: tel.Hooks()})
		_, err = chain.Complete(t.Context(), question)
		require.NoError(t, err, "hooks without the wrapper")
		resp, err := tel.Backend(chain).Complete(t.Context(), question)
		require.NoError(t, err)
		require.Equal(t, answer, resp.Text)
	}
}

func TestConcurrentCallsAreRecorded(t *testing.T) {
	clitest.NoLeaks(t)
	s := watch(t)
	c := s.chain(config{NoCooldown: true}, failing("a", clichain.ReasonNetwork, usage{}), fine)
	done := make(chan error)
	const calls = 20
	for i := range calls {
		go func() {
			_, err := ask(t, c, i%2 == 0, question)
			done <- err
		}()
	}
	for range calls {
		require.NoError(t, <-done)
	}
	require.Len(t, s.tree(t), 3*calls)
	require.Equal(t, map[string]string{"network a": "20"}, points(t, s.metrics(t)["clichain.failures"]))
}
