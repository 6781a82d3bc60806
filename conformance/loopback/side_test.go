package loopback

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unscripted returns a script that fails the test if a side call reaches it.
func unscripted(t *testing.T) Script {
	return func(q Request) Reply {
		t.Errorf("the script received the call %s", q.Path)
		return Text("no")
	}
}

func send(t *testing.T, s *Server, method, path, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func TestSideCallsSkipScript(t *testing.T) {
	cases := []struct{ name, path, body, want string }{
		{"tokens", "/v1/messages/count_tokens", `{"model":"m","messages":[]}`, `{"input_tokens":12}`},
		{"title", "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"system","content":"You are a title generator. You output"},{"role":"user","content":"hi"}]}`, `"content":"A "`},
		{"router", "/v1beta/models/m:generateContent", `{"contents":[]}`, `model_choice`},
		{"plans", "/v1internal:loadCodeAssist", `{"metadata":{}}`, `UNSUPPORTED_CLIENT`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := New(t, unscripted(t))
			response := send(t, s, http.MethodPost, c.path, c.body, "Authorization", "Bearer k")
			require.Equal(t, http.StatusOK, response.StatusCode)
			require.Contains(t, bodyOf(t, response), c.want)
			require.Empty(t, s.Calls())
			require.Len(t, s.Requests(), 1)
			require.True(t, s.Requests()[0].Side)
		})
	}
}

func TestRouterGetsJSON(t *testing.T) {
	s := New(t, nil)
	var answer object
	response := send(t, s, http.MethodPost, "/v1beta/models/m:generateContent", `{}`, "X-Goog-Api-Key", "k")
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	parts, _ := dig(answer, "candidates", "0", "content", "parts").([]any)
	var text string
	for _, p := range parts {
		text += str(dig(p, "text"))
	}
	var choice object
	require.NoError(t, json.Unmarshal([]byte(text), &choice))
	require.Equal(t, "flash", choice["model_choice"])
}

func TestOtherRequestsAreRecordedAndRefused(t *testing.T) {
	s := New(t, unscripted(t))
	require.Equal(t, http.StatusNotFound, send(t, s, http.MethodGet, "/api/hello", "").StatusCode)
	require.Equal(t, http.StatusUpgradeRequired,
		send(t, s, http.MethodGet, "/v1/responses", "", "Connection", "Upgrade", "Upgrade", "websocket").StatusCode)
	require.Len(t, s.Requests(), 2)
	require.Empty(t, s.Calls())
	require.Empty(t, s.Requests()[0].Protocol)
}

func TestAnswersWithoutAStream(t *testing.T) {
	s := New(t, Always(Join(Text("one two"), Tool("Bash", map[string]any{"command": "true"}))))
	message := bodyOf(t, send(t, s, http.MethodPost, "/v1/messages", `{"model":"m","messages":[]}`, "X-Api-Key", "k"))
	require.Contains(t, message, `"text":"one two"`)
	require.Contains(t, message, `"stop_reason":"tool_use"`)
	require.NotContains(t, message, "data:")
	chat := bodyOf(t, send(t, s, http.MethodPost, "/v1/chat/completions", `{"model":"m","messages":[]}`, "Authorization", "Bearer k"))
	require.Contains(t, chat, `"content":"one two"`)
	require.Contains(t, chat, `"finish_reason":"tool_calls"`)
	require.Contains(t, chat, `"name":"Bash"`)
}

func TestInvalidJSONBodyIsCall(t *testing.T) {
	s := New(t, Always(Error(http.StatusBadRequest, "invalid_request_error", "no JSON")))
	response := send(t, s, http.MethodPost, "/v1/messages", "not JSON", "X-Api-Key", "k")
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.Equal(t, []byte("not JSON"), s.Calls()[0].Body)
}
