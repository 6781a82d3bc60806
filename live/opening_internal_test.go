package live

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// said returns messages of the user.
func said(texts ...string) (messages []clichain.Message) {
	for _, text := range texts {
		messages = append(messages, clichain.Message{Role: clichain.RoleUser, Content: text})
	}
	return messages
}

var system = clichain.Message{Role: clichain.RoleSystem, Content: "rules"}

// The request for an answer ends with the text, once.
func TestOpeningWithText(t *testing.T) {
	t.Parallel()
	answered := append(said("one"), clichain.Message{Role: clichain.RoleAssistant, Content: "two"})
	for name, test := range map[string]struct{ messages, want []clichain.Message }{
		"there is no message": {nil, said("two")},
		"another message":     {said("one"), said("one", "two")},
		"the same message":    {said("one", "two"), said("one", "two")},
		"the same answer":     {answered, append(answered[:2:2], said("two")...)},
	} {
		t.Run(name, func(t *testing.T) {
			o := &opening{request: clichain.Request{Model: "m", Messages: test.messages}}
			require.Equal(t, clichain.Request{Model: "m", Messages: test.want}, o.with("two"))
			require.Equal(t, test.messages, o.request.Messages)
		})
	}
}

// After a turn that the CLI received, only the system messages are repeated. Only the first one has the rejected attempts.
func TestOpeningAfterTurn(t *testing.T) {
	t.Parallel()
	before := append(said("one"), system)
	rejected := []clichain.Attempt{{Backend: "b", Reason: clichain.ReasonBadSession}}
	for name, test := range map[string]struct {
		rejected []clichain.Attempt
		failed   *clichain.BackendError
		flags    []call.Flag
		unsent   bool
	}{
		"an answer":                    {flags: []call.Flag{call.FlagHandedOver}},
		"an answer without the thread": {rejected: rejected, flags: []call.Flag{call.FlagHandedOver, call.FlagFreshSession}},
		"a failure":                    {rejected: rejected, failed: &clichain.BackendError{Stage: call.StageStarted}},
		"a turn that was not sent":     {rejected: rejected, failed: &clichain.BackendError{Stage: call.StageSkipped}, unsent: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := &opening{request: clichain.Request{Messages: before}, threads: []call.Thread{{Backend: "other"}}, rejected: test.rejected}
			req := clichain.Request{Model: "m", Messages: append(before[:2:2], said("two")...)}
			var resp *clichain.Response
			if test.failed == nil {
				resp = &clichain.Response{Backend: "b"}
			}
			o.asked(&Turn{req: req}, resp, test.failed)
			if test.unsent {
				require.Equal(t, before, o.request.Messages)
				require.Equal(t, rejected, o.rejected)
				require.Empty(t, test.failed.Earlier)
				return
			}
			require.Equal(t, clichain.Request{Model: "m", Messages: []clichain.Message{system}}, o.request)
			require.Empty(t, o.rejected)
			if test.failed != nil {
				require.Equal(t, test.rejected, test.failed.Earlier)
				require.NotEmpty(t, o.threads, "there is no answer")
				return
			}
			require.Empty(t, o.threads)
			require.Equal(t, test.rejected, resp.Attempts)
			require.Equal(t, test.flags, resp.Flags)
		})
	}
}

func TestSessionRefusesSettings(t *testing.T) {
	t.Parallel()
	word := json.RawMessage(`{"type":"string"}`)
	for name, test := range map[string]struct {
		req    clichain.Request
		option string
	}{
		"none":       {clichain.Request{Schema: word}, ""},
		"a thread":   {clichain.Request{Schema: word, Threads: []call.Thread{{Backend: "b", Session: "b:1", Messages: 1}}}, "threads[0].messages"},
		"a message":  {clichain.Request{Schema: word, Messages: []clichain.Message{{Role: "tool", Content: "x"}}}, "messages[0].role"},
		"the schema": {clichain.Request{Schema: json.RawMessage(`{"type":"strin"}`)}, "schema"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(calling(nil).Provider, &Config{Request: test.req})
			err := s.refused()
			if test.option == "" {
				require.NoError(t, err)
				require.NotNil(t, s.schema)
				return
			}
			require.Equal(t, test.option, call.AsError("b", err).Option)
			require.Nil(t, s.schema)
		})
	}
}

// Only a thread is given up, and only if the CLI does not resume it.
func TestSessionForgetsThread(t *testing.T) {
	t.Parallel()
	threads := []call.Thread{{Backend: "b", Session: "b:1"}}
	unknown := clichain.BackendError{Reason: clichain.ReasonBadSession}
	for name, test := range map[string]struct {
		req  clichain.Request
		err  clichain.BackendError
		want bool
	}{
		"unknown to the CLI":      {clichain.Request{Threads: threads}, unknown, true},
		"the CLI resumes nothing": {clichain.Request{Threads: threads}, clichain.BackendError{Reason: clichain.ReasonUnsupported, Option: "session"}, true},
		"another option":          {clichain.Request{Threads: threads}, clichain.BackendError{Reason: clichain.ReasonUnsupported, Option: "model"}, false},
		"another failure":         {clichain.Request{Threads: threads}, clichain.BackendError{Reason: clichain.ReasonExit, Option: "session"}, false},
		"a tool was used":         {clichain.Request{Threads: threads}, clichain.BackendError{Reason: clichain.ReasonBadSession, SideEffects: true}, false},
		"a thread of another CLI": {clichain.Request{Threads: []call.Thread{{Backend: "other", Session: "other:1"}}}, unknown, false},
		"a session":               {clichain.Request{Session: "b:1"}, unknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(calling(nil).Provider, &Config{Request: test.req})
			require.Equal(t, test.want, s.forgets(&test.err, time.Second))
			if !test.want {
				require.Empty(t, s.lacks.rejected)
				return
			}
			require.Empty(t, s.lacks.request.Threads)
			require.Empty(t, s.Status().Session)
			require.Len(t, s.lacks.rejected, 1)
			require.Equal(t, time.Second, s.lacks.rejected[0].Duration)
		})
	}
}
