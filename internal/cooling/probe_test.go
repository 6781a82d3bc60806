package cooling

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// probedCall is a call of which a probe needs only the name and the timeout.
type probedCall struct{ Call }

func (probedCall) Name() string           { return "a" }
func (probedCall) Timeout() time.Duration { return time.Minute }

// A conversation continues the session that a failed attempt reports, so a probe reports none.
func TestFailedProbeReportsNoSession(t *testing.T) {
	failed := &call.Error{
		Backend: "a", Reason: call.ReasonOverloaded, Session: "a.Mg",
		Earlier: []call.Attempt{{Backend: "a", Err: &call.Error{Backend: "a", Reason: call.ReasonNetwork, Session: "a.MQ"}}},
	}
	tried, _, err := Probe(t.Context(), t.Context(), probedCall{}, call.Prompt("hi"),
		func(context.Context, call.Request) (*call.Response, error) { return nil, failed })
	require.Empty(t, call.AsError("", err).Session)
	require.Len(t, tried, 2)
	for _, a := range tried {
		require.Empty(t, call.AsError("", a.Err).Session)
	}
	require.Equal(t, "a.Mg", failed.Session, "the error of the backend is unchanged")
	require.Equal(t, "a.MQ", call.AsError("", failed.Earlier[0].Err).Session)
}
