package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// Only a tool with write access may have changed something.
func TestStructuredTurnThatActed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		access clichain.Access
		kind   clichain.EventKind
		want   bool
	}{
		"text":               {clichain.AccessWrite, clichain.EventDelta, false},
		"a tool that reads":  {clichain.AccessRead, clichain.EventToolUse, false},
		"a tool that writes": {clichain.AccessWrite, clichain.EventToolUse, true},
		"a tool of an agent": {clichain.AccessFull, clichain.EventToolUse, true},
	} {
		t.Run(name, func(t *testing.T) {
			turn := &Turn{see: func(e clichain.Event) { require.Equal(t, "b", e.Backend) }}
			s := New(calling(nil).Provider, nil)
			one := &structuredTurn{session: s, turn: turn, ctx: t.Context(), req: clichain.Request{Access: test.access}}
			one.emit(clichain.Event{Kind: test.kind})
			one.emit(clichain.Event{Kind: clichain.EventDelta})
			require.Equal(t, test.want, one.acted)
		})
	}
}

func TestStructuredTurnHasTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		for name, test := range map[string]struct {
			ctx  context.Context
			time time.Duration
			want bool
		}{
			"no limit":        {t.Context(), time.Hour, true},
			"enough":          {limited, time.Minute - 1, true},
			"exactly as much": {limited, time.Minute, false},
			"canceled":        {canceled, 0, false},
		} {
			require.Equal(t, test.want, (&structuredTurn{ctx: test.ctx}).timeFor(test.time), name)
		}
	})
}
