package contract

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// The error of a backend whose changes were discarded tells itself what remains of them.
func TestAskSideEffectsOfDiscardedChanges(t *testing.T) {
	for _, discarded := range []bool{false, true} {
		failed := &call.Error{Reason: call.ReasonExit, Discarded: discarded}
		b := Backend{Name: "a", Settled: func(error) bool { return false }, Stream: func(
			context.Context, call.Request,
		) iter.Seq2[call.Event, error] {
			return func(yield func(call.Event, error) bool) {
				_ = yield(call.Event{Kind: call.EventToolUse, Name: "write"}, nil) && yield(call.Event{}, failed)
			}
		}}
		req := call.Prompt("x")
		req.Access = call.AccessWrite
		_, err := call.Collect(b.Ask(t.Context(), req))
		require.ErrorIs(t, err, call.ErrExit)
		require.Equal(t, !discarded, call.AsError("a", err).SideEffects)
	}
}
