package provider

import (
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/stretchr/testify/require"
)

func TestMilestones(t *testing.T) {
	var heard []call.EventKind
	emit := milestones(func(e call.Event) { heard = append(heard, e.Kind) })
	for _, kind := range []call.EventKind{
		call.EventStart, call.EventDelta, call.EventText, call.EventToolUse, call.EventReset, call.EventAttempt, call.EventRaw,
	} {
		emit(call.Event{Kind: kind})
	}
	require.Equal(t, []call.EventKind{call.EventStart, call.EventAttempt}, heard)
}
