package openai_test

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai"
)

var messageID = regexp.MustCompile(`"msg_[a-z0-9]+"`)

// TestItemReference checks that a request can repeat an earlier answer by its id, as the AI SDK does by default.
func TestItemReference(t *testing.T) {
	backend := says("the first ", "answer")
	backend.asked = make(chan clichain.Request, 10)
	s := serving(t, backend)
	for _, fields := range []string{"", `"store":true,`, `"stream":true,`} {
		first := post(t, s, responses, "{"+fields+`"input":"hi"}`)
		require.Equal(t, 200, first.status, first.body)
		id := messageID.FindString(first.body)
		<-backend.asked
		second := post(t, s, responses, `{"input":[{"role":"user","content":"hi"},{"type":"item_reference","id":`+id+`},{"role":"user","content":"more"}]}`)
		require.Equal(t, 200, second.status, second.body)
		require.Equal(t, []clichain.Message{
			{Role: call.RoleUser, Content: "hi"}, {Role: call.RoleAssistant, Content: "the first answer"}, {Role: call.RoleUser, Content: "more"},
		}, (<-backend.asked).Messages)
	}
}

func TestItemReferenceErrors(t *testing.T) {
	s := serving(t, says("x"))
	kept := messageID.FindString(post(t, s, responses, `{"input":"hi"}`).body)
	dropped := messageID.FindString(post(t, s, responses, `{"store":false,"input":"hi"}`).body)
	for _, test := range []struct {
		name, items string
		status      int
		code, param string
	}{
		{"unknown id", `{"type":"item_reference","id":"msg_1"}`, 404, "item_not_found", "input[0].id"},
		{"no id", `{"type":"item_reference"}`, 404, "item_not_found", "input[0].id"},
		{"number as id", `{"type":"item_reference","id":1}`, 400, "invalid_type", "input[0].id"},
		{"unknown field", `{"type":"item_reference","id":` + kept + `,"x":1}`, 400, "unknown_parameter", "input[0].x"},
		{"answer that the client did not store", `{"type":"item_reference","id":` + dropped + `}`, 404, "item_not_found", "input[0].id"},
		{
			"same answer twice", `{"type":"item_reference","id":` + kept + `},{"type":"item_reference","id":` + kept + `}`,
			400, "unsupported_value", "input[1].id",
		},
		{"another type", `{"type":"reasoning","id":"rs_1"}`, 400, "unsupported_value", "input[0].type"},
	} {
		a := post(t, s, responses, `{"input":[`+test.items+`,{"role":"user","content":"more"}]}`)
		require.Equal(t, test.status, a.status, test.name)
		e := a.failure(t)
		require.Equal(t, test.code, e.Code, test.name)
		require.Equal(t, test.param, e.Param, test.name)
	}
}

// leaver is a client that leaves as soon as it has read a text.
type leaver struct {
	*httptest.ResponseRecorder
	text  string
	leave context.CancelFunc
}

func (l leaver) Write(data []byte) (int, error) {
	if bytes.Contains(data, []byte(l.text)) {
		l.leave()
	}
	return l.ResponseRecorder.Write(data)
}

// leavable is a backend that fails when the context ends.
type leavable struct{ *script }

func (b leavable) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		for e, err := range b.script.Stream(ctx, req) {
			if err = cmp.Or(ctx.Err(), err); !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// TestLogOfClientThatLeaves checks that the log reports a client that left only if it did so before the end of the
// answer. Many clients close the connection after the last event of a stream.
func TestLogOfClientThatLeaves(t *testing.T) {
	for _, test := range []struct {
		name, body, text string
		left             bool
	}{
		{"after a stream", streamHi, "[DONE]", false},
		{"after an answer", hi, "one two", false},
		{"during a stream", streamHi, "one ", true},
	} {
		var log bytes.Buffer
		ctx, leave := context.WithCancel(t.Context())
		h := openai.NewHandler(leavable{says("one ", "two")}, &openai.Config{Token: token, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+chat, strings.NewReader(test.body)).WithContext(ctx)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(leaver{httptest.NewRecorder(), test.text, leave}, r)
		require.Error(t, ctx.Err(), test.name)
		require.Equal(t, test.left, strings.Contains(log.String(), "the client left"), test.name)
	}
}
