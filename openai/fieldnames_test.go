package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai"
)

// TestErrorsNameFieldsOfConfig checks that an error that a field of Config could prevent contains the program's name
// of the field.
func TestErrorsNameFieldsOfConfig(t *testing.T) {
	changed := &script{events: []clichain.Event{
		{Kind: clichain.EventDelta, Text: "old"},
		{Kind: clichain.EventDone, Response: &clichain.Response{Text: "new", Backend: "one"}},
	}}
	for field, test := range map[string]struct {
		backend clichain.Backend
		body    string
		change  func(*http.Request)
	}{
		"Token":          {says("x"), hi, func(r *http.Request) { r.Header.Del("Authorization") }},
		"AllowedOrigins": {says("x"), hi, func(r *http.Request) { r.Header.Set("Origin", "http://localhost:1") }},
		"Strict":         {says("x"), strings.Replace(hi, "{", `{"seed":1,`, 1), func(*http.Request) {}},
		"BufferStreams":  {changed, streamHi, func(*http.Request) {}},
	} {
		t.Run(field, func(t *testing.T) {
			for name, want := range map[string]string{"": "Config." + field, "server --flag": "server --flag"} {
				s := serving(t, test.backend, func(c *openai.Config) { c.FieldNames, c.Strict = map[string]string{field: name}, true })
				r := request(t, s, http.MethodPost, chat, test.body)
				test.change(r)
				require.Contains(t, do(t, s, r).body, want)
			}
		})
	}
}
