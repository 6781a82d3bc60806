package loopback

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dialect describes one protocol for a test: a request with a system text and a prompt, and the path of the answer's
// text.
type dialect struct {
	protocol Protocol
	path     string
	auth     string
	body     string // the test replaces SYSTEM and PROMPT
	text     func(event object) string
}

var dialects = []dialect{
	{Messages, "/v1/messages?beta=true", "X-Api-Key",
		`{"model":"m","stream":true,"system":[{"type":"text","text":SYSTEM}],"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"early"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"ran"},{"type":"text","text":PROMPT}]}]}`,
		func(e object) string { return str(dig(e, "delta", "text")) }},
	{Responses, "/v1/responses", "Authorization",
		`{"model":"m","stream":true,"instructions":SYSTEM,"tools":[{"type":"function","name":"Bash"}],"input":[{"type":"function_call_output","output":"ran"},{"type":"message","role":"user","content":[{"type":"input_text","text":PROMPT}]}]}`,
		func(e object) string {
			if e["type"] != "response.output_text.delta" {
				return ""
			}
			return str(e["delta"])
		}},
	{Chat, "/v1/chat/completions", "Authorization",
		`{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"Bash"}}],"messages":[{"role":"system","content":SYSTEM},{"role":"tool","content":"ran"},{"role":"user","content":PROMPT}]}`,
		func(e object) string { return str(dig(e, "choices", "0", "delta", "content")) }},
	{Gemini, "/v1beta/models/m:streamGenerateContent?alt=sse", "X-Goog-Api-Key",
		`{"systemInstruction":{"parts":[{"text":SYSTEM}]},"tools":[{"functionDeclarations":[{"name":"Bash"}]}],"contents":[{"role":"user","parts":[{"functionResponse":{"name":"Bash","response":{"output":"ran"}}}]},{"role":"user","parts":[{"text":"context"},{"text":PROMPT}]}]}`,
		func(e object) string {
			if dig(e, "candidates", "0", "content", "parts", "0", "thought") == true {
				return ""
			}
			return str(dig(e, "candidates", "0", "content", "parts", "0", "text"))
		}},
}

// dig returns a value of decoded JSON by keys and indices, and nil if the path does not exist.
func dig(v any, path ...string) any {
	for _, key := range path {
		switch c := v.(type) {
		case object:
			v = c[key]
		case []any:
			if key != "0" || len(c) == 0 {
				return nil
			}
			v = c[0]
		default:
			return nil
		}
	}
	return v
}

func eachDialect(t *testing.T, test func(t *testing.T, d dialect)) {
	for _, d := range dialects {
		t.Run(string(d.protocol), func(t *testing.T) { test(t, d) })
	}
}

// client keeps no connections, so a goroutine that outlives a test belongs to the server.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func (d dialect) request(t *testing.T, s *Server, system, prompt string) *http.Request {
	t.Helper()
	body := strings.NewReplacer("SYSTEM", mustJSON(system), "PROMPT", mustJSON(prompt)).Replace(d.body)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+d.path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set(d.auth, map[bool]string{true: "Bearer k", false: "k"}[d.auth == "Authorization"])
	return r
}

// post sends a prompt and returns the response. The end of the test closes the body.
func (d dialect) post(t *testing.T, s *Server, prompt string) *http.Response {
	t.Helper()
	response, err := client.Do(d.request(t, s, "Be brief.", prompt))
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// events reads a stream to its end and returns the error that ended it.
func events(t *testing.T, body io.Reader) (list []object, err error) {
	t.Helper()
	scanner := bufio.NewScanner(body)
	for scanner.Scan() {
		data, ok := strings.CutPrefix(scanner.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var e object
		require.NoError(t, json.Unmarshal([]byte(data), &e), data)
		list = append(list, e)
	}
	return list, scanner.Err()
}

func (d dialect) textOf(list []object) string {
	var text string
	for _, e := range list {
		text += d.text(e)
	}
	return text
}

func bodyOf(t *testing.T, response *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(b)
}
