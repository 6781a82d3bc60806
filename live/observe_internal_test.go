package live

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// observed returns a turn of a session, without a CLI.
func observed(t *testing.T, values context.Context) *Turn {
	turn := &Turn{values: values}
	turn.ctx, turn.stop = context.WithCancelCause(t.Context())
	return turn
}

// The session keeps the usage windows of an answer and of a failure.
func TestTurnKeepsUsageWindows(t *testing.T) {
	t.Parallel()
	windows := []call.QuotaWindow{{Name: "week"}}
	for name, test := range map[string]struct {
		resp *clichain.Response
		err  error
	}{
		"an answer": {resp: &clichain.Response{Quota: windows}},
		"a failure": {err: &clichain.BackendError{Backend: "b", Reason: clichain.ReasonExit, Quota: windows}},
	} {
		t.Run(name, func(t *testing.T) {
			var kept []call.QuotaWindow
			s := sessionIn(Running, nil)
			s.keep = func(_ context.Context, windows []call.QuotaWindow) { kept = windows }
			turn := observed(t, t.Context())
			end := turn.observe(s)
			turn.resp, turn.err = test.resp, test.err
			end()
			require.NoError(t, turn.ctx.Err())
			require.Equal(t, windows, kept)
		})
	}
}

// The first panic of a hook cancels the turn.
func TestTurnGuardsHooks(t *testing.T) {
	t.Parallel()
	turn := observed(t, t.Context())
	turn.guard(func() {})
	require.NoError(t, turn.ctx.Err())
	for _, value := range []string{"first", "second"} {
		turn.guard(func() { panic(value) })
		require.Equal(t, "first", turn.panicked.Load().value)
		require.EqualError(t, context.Cause(turn.ctx), "live: a hook panicked: first")
	}
}

func TestTurnContextValues(t *testing.T) {
	t.Parallel()
	type key string
	values := context.WithValue(context.WithValue(t.Context(), key("both"), 1), key("outer"), 2)
	ctx := turnContext{context.WithValue(ended(t, errors.New("over")), key("both"), 3), values}
	require.Equal(t, 3, ctx.Value(key("both")))
	require.Equal(t, 2, ctx.Value(key("outer")))
	require.Error(t, ctx.Err())
}
