package compose

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/specs"
)

// codex stores a thread only for a conversation, and a resumed thread is not started again.
func TestOpeningOfCodexThread(t *testing.T) {
	forget := call.Request{Options: call.Options{NoSessionPersistence: true}}
	for name, test := range map[string]struct {
		set          call.Request
		conversation bool
		method, want string
	}{
		"call of a pool":                   {call.Request{}, false, "thread/start", `{"cwd":"","ephemeral":true}`},
		"a conversation":                   {call.Request{}, true, "thread/start", `{"cwd":"","ephemeral":false}`},
		"conversation with a model":        {call.Request{Model: "gpt-5"}, true, "thread/start", `{"cwd":"","ephemeral":false,"model":"gpt-5"}`},
		"conversation without persistence": {forget, true, "thread/start", `{"cwd":"","ephemeral":true}`},
		"a session": {
			call.Request{Session: "codex:0199abcd-0000-7000-8000-000000000001", Model: "gpt-5"}, true, "thread/resume",
			`{"cwd":"","threadId":"0199abcd-0000-7000-8000-000000000001","excludeTurns":true,"sandbox":"read-only","approvalPolicy":"never","model":"gpt-5"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := test.set
			req.Messages = call.Prompt("hi").Messages
			h := testHost()
			h.Conversation = test.conversation
			inv, err := composerOf(t, specs.Codex()).Compose(req, alive, h)
			require.Nil(t, err)
			rules := specs.Codex().Live
			m, params, ok := inv.Call.Message(inv.Call.Begin(&rules), nil)
			require.True(t, ok)
			require.Equal(t, test.method, m.Method)
			require.JSONEq(t, strings.Replace(test.want, `"cwd":""`, `"cwd":`+strconv.Quote(h.RealDir), 1), string(params))
		})
	}
}
