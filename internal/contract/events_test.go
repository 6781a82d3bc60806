package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

func TestRunStateDropsSecondStart(t *testing.T) {
	for _, test := range []struct {
		state   runState
		kind    call.EventKind
		next    runState
		deliver bool
	}{
		{running, call.EventStart, running, false},
		{running, call.EventText, running, true},
		{running, call.EventAttempt, failed, true},
		{failed, call.EventText, failed, true},
		{failed, call.EventAttempt, failed, true},
		{failed, call.EventStart, running, true},
	} {
		next, deliver := test.state.after(test.kind)
		require.Equal(t, test.next, next, "%d, %s", test.state, test.kind)
		require.Equal(t, test.deliver, deliver, "%d, %s", test.state, test.kind)
	}
}

func TestTextStateAfterReset(t *testing.T) {
	require.Equal(t, delivered, withheld.after(call.EventDelta))
	require.Equal(t, delivered, delivered.after(call.EventToolUse))
	require.Equal(t, withheld, delivered.after(call.EventReset))
}
