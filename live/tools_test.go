package live_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

// toolsThatEnd are functions that end with an error, or with nil.
type toolsThatEnd struct{ err error }

func (e toolsThatEnd) Begin(ctx context.Context) (context.Context, func() error, error) {
	return ctx, func() error { return e.err }, nil
}

// A panic of a function ends the turn, but not the session. The failure of the CLI comes first.
func TestSessionWhoseToolsPanic(t *testing.T) {
	t.Parallel()
	panicked := errors.New("a function panicked")
	for name, test := range map[string]struct {
		end    error
		text   string
		reason clichain.Reason // empty: an answer
	}{
		"no panic":              {text: "say hi"},
		"a panic":               {end: panicked, text: "say hi", reason: clichain.ReasonCanceled},
		"a failure and a panic": {end: panicked, text: "fail 500 internal server error", reason: clichain.ReasonServerError},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			s := startedBeside(t, "control", "", patient, &live.Config{Tools: toolsThatEnd{test.end}})
			resp, err := s.Ask(t.Context(), test.text)
			require.Equal(t, live.Running, s.Status().State)
			if test.reason == "" {
				require.NoError(t, err)
				require.Equal(t, "hi", resp.Text)
				return
			}
			failed := requireReason(t, test.reason, err)
			require.Equal(t, "lumen", failed.Backend)
			require.Equal(t, call.StageStarted, failed.Stage)
			require.EqualValues(t, 3, failed.Usage.InputTokens)
			if test.reason == clichain.ReasonCanceled {
				require.ErrorIs(t, err, panicked)
				require.Equal(t, -1, failed.ExitCode)
				require.Equal(t, "hi", failed.Partial)
				require.NotEmpty(t, failed.Session)
			}
		})
	}
}
