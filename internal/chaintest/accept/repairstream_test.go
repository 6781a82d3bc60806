package accept_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
)

func TestStreamOfARepair(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	p := chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(wrong, good, mustNot))
	var text string
	var kinds []clichain.EventKind
	for e, err := range p.Stream(t.Context(), chaintest.AskCity()) {
		require.NoError(t, err)
		kinds = append(kinds, e.Kind)
		switch e.Kind {
		case clichain.EventReset:
			require.Equal(t, `{"city":7}`, text)
			require.Equal(t, "shaped", e.Backend)
			text = ""
		case clichain.EventDelta, clichain.EventText:
			text += e.Text
		case clichain.EventAttempt:
			require.Equal(t, clichain.ReasonBadOutput, e.Attempt.Reason)
		}
	}
	require.Equal(t, `{"city":"Paris"}`, text)
	require.Subset(t, kinds, []clichain.EventKind{clichain.EventAttempt, clichain.EventReset})
	require.Equal(t, clichain.EventDone, kinds[len(kinds)-1])
}

func TestStreamOfAChainForgetsBadStructuredAnswers(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	backends := []clichain.Backend{
		chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(wrong, wrong, mustNot)),
		chaintest.Provider(t, chaintest.Named(shaped(), "next"), clichain.Config{}, chaintest.Play(good...)),
	}
	var text string
	resets := 0
	for e, err := range clichain.ChainOf(backends, &clichain.ChainConfig{AcceptReset: true}).Stream(t.Context(), chaintest.AskCity()) {
		require.NoError(t, err)
		switch e.Kind {
		case clichain.EventReset:
			text = ""
			resets++
		case clichain.EventDelta, clichain.EventText:
			text += e.Text
		}
	}
	require.Equal(t, `{"city":"Paris"}`, text)
	require.Equal(t, 2, resets)
}
