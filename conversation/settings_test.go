package conversation_test

import (
	"context"
	"iter"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conversation"
	"github.com/clichain/clichain/internal/chainview"
)

// viewing is a backend that records which events its caller reads.
type viewing struct {
	clichain.Backend
	view *chainview.View
}

func (v viewing) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	*v.view = chainview.Of(ctx)
	return v.Backend.Stream(ctx, req)
}

// Send needs no text before the answer is complete. It needs other events only for files and for checkpoints.
func TestSendReadsFewEvents(t *testing.T) {
	for name, test := range map[string]struct {
		cfg  conversation.Config
		want bool
	}{
		"none":       {conversation.Config{}, true},
		"read":       {conversation.Config{Request: clichain.Request{Access: clichain.AccessRead}}, true},
		"write":      {conversation.Config{Request: clichain.Request{Access: clichain.AccessWrite}}, false},
		"checkpoint": {conversation.Config{Checkpoint: func(*conversation.Conversation) {}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var view chainview.View
			send(t, conversation.New(viewing{newFake("a").backend(), &view}, &test.cfg), "one", "a")
			require.True(t, view.CanReset)
			require.Equal(t, test.want, view.MilestonesOnly)
		})
	}
}

// The conversation copies what it gets and what it returns.
func TestConversationIsIndependent(t *testing.T) {
	cfg := &conversation.Config{Request: clichain.Request{Env: map[string]string{"A": "1"}}}
	c := conversation.New(newFake("a").backend(), cfg)
	cfg.Request.Env["A"] = "2"
	require.Equal(t, "1", c.Request().Env["A"])
	send(t, c, "one", "a")
	c.Threads()[0].Session = "changed"
	require.Equal(t, "a.czE", c.Threads()[0].Session)
}

func TestDirectoryOfAgent(t *testing.T) {
	own, err := os.Getwd()
	require.NoError(t, err)
	for access, want := range map[clichain.Access]string{clichain.AccessNone: "", clichain.AccessRead: own} {
		c := conversation.New(newFake("a").backend(), &conversation.Config{Request: clichain.Request{Access: access}})
		require.Equal(t, want, c.Request().Dir)
	}
}
