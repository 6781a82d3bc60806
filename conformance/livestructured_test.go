package conformance_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/live"
)

// A session sends its schema in the form of the CLI, and corrects an invalid answer once. After that, plain text is a
// failure.
func TestLiveSessionWithASchema(t *testing.T) {
	eachLive(t, func(t *testing.T, name string) {
		replies := []loopback.Reply{structured(name, city), loopback.Text("Hello")}
		if name == home.Claude { // claude asks the model itself for a structured answer
			replies = append(replies, loopback.Text("Hello again"))
		}
		replies = append(replies, structured(name, city))
		c := start(t, name, home.LoggedIn, clichain.Config{Timeout: 2 * time.Minute}, func(q loopback.Request) loopback.Reply {
			if len(replies) == 0 {
				return loopback.Text("Hello")
			}
			reply := replies[0]
			replies = replies[1:]
			return reply
		})
		s := live.New(c.Provider, &live.Config{Request: clichain.Request{Model: liveModel(name), Schema: json.RawMessage(citySchema)}})
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		resp, err := s.Ask(t.Context(), "where?")
		require.NoError(t, err)
		require.JSONEq(t, city, resp.Text)
		require.Empty(t, resp.Flags)
		asksForCity(t, name, c.server.Calls()[0])

		resp, err = s.Ask(t.Context(), "and now?")
		t.Logf("%d requests, %+v %v", len(c.server.Calls()), resp, err)
		require.NoError(t, err)
		require.JSONEq(t, city, resp.Text)
		require.Contains(t, resp.Flags, call.FlagRepaired)
		require.Len(t, resp.Attempts, 1)

		_, err = s.Ask(t.Context(), "and then?")
		require.ErrorIs(t, err, clichain.ErrBadOutput)
	})
}
