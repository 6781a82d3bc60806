package conformance_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

const (
	citySchema = `{"type":"object","properties":{"city":{"type":"string"},"n":{"type":"integer"}},"required":["city","n"],"additionalProperties":false}`
	city       = `{"city":"Paris","n":3}`
)

// structured returns an answer in the form that the model of a CLI uses.
func structured(name, answer string) loopback.Reply {
	var args map[string]any
	if name != home.Claude || json.Unmarshal([]byte(answer), &args) != nil {
		return loopback.Text(answer)
	}
	return loopback.Tool("StructuredOutput", args)
}

// asksForCity asserts that a request has the schema in the place that its CLI uses.
func asksForCity(t *testing.T, name string, q loopback.Request) {
	t.Helper()
	var body struct {
		Tools []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		Text struct {
			Format struct {
				Type   string          `json:"type"`
				Strict bool            `json:"strict"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"text"`
	}
	if name == home.Claude || name == home.Codex {
		require.NoError(t, json.Unmarshal(q.Body, &body))
	}
	switch format := body.Text.Format; name {
	case home.Claude:
		require.Equal(t, []string{"StructuredOutput"}, q.Tools())
		require.JSONEq(t, citySchema, string(body.Tools[0].Schema))
	case home.Codex:
		require.Equal(t, "json_schema", format.Type)
		require.True(t, format.Strict)
		require.JSONEq(t, citySchema, string(format.Schema))
	default:
		require.Contains(t, q.Prompt(), citySchema)
	}
}

// The schema reaches the model in the form of the CLI, and the answer is the JSON text.
func TestStructuredAnswer(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(structured(name, city)))
		req := c.question("where?")
		req.Schema = json.RawMessage(citySchema)
		resp, err := c.Complete(t.Context(), req)
		require.NoError(t, err)
		require.JSONEq(t, city, resp.Text)
		require.Empty(t, resp.Flags)
		require.Len(t, c.server.Calls(), 1)
		asksForCity(t, name, c.server.Calls()[0])
	})
}

// If a CLI accepts an invalid answer, clichain sends one more request with the validation error.
func TestStructuredAnswerIsRepaired(t *testing.T) {
	for _, name := range []string{home.Codex, home.Gemini} {
		t.Run(name, func(t *testing.T) {
			longUnless(t, isFirst(name))
			t.Parallel()
			c := start(t, name, home.LoggedIn, longTimeout, loopback.InOrder(loopback.Text(`{"city":"Paris"}`), loopback.Text(city)))
			req := c.question("where?")
			req.Schema = json.RawMessage(citySchema)
			resp, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.JSONEq(t, city, resp.Text)
			require.Contains(t, resp.Flags, call.FlagRepaired)
			require.Len(t, resp.Attempts, 1)
			require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrBadOutput)
			calls := c.server.Calls()
			require.Len(t, calls, 2)
			asksForCity(t, name, calls[1])
			require.Contains(t, calls[1].Prompt(), "missing property 'n'")
		})
	}
}

// claude itself makes the model correct an invalid answer, within one run.
func TestClaudeRepairsAnswer(t *testing.T) {
	wrong := loopback.Tool("StructuredOutput", map[string]any{"city": "Paris"})
	c := start(t, home.Claude, home.LoggedIn, longTimeout, loopback.InOrder(wrong, structured(home.Claude, city)))
	req := c.question("where?")
	req.Schema = json.RawMessage(citySchema)
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.JSONEq(t, city, resp.Text)
	require.Empty(t, resp.Flags)
	require.Len(t, c.server.Calls(), 2)
}

// If the model returns only plain text, claude reports success. The call must fail.
func TestPlainTextFailsSchema(t *testing.T) {
	c := start(t, home.Claude, home.LoggedIn, longTimeout, loopback.Always(loopback.Text("It is Paris.")))
	req := c.question("where?")
	req.Schema = json.RawMessage(citySchema)
	_, err := c.Complete(t.Context(), req)
	require.ErrorIs(t, err, clichain.ErrBadOutput)
}

// A structured answer is part of the session. The next call can continue it with another schema.
func TestStructuredAnswersInASession(t *testing.T) {
	for _, name := range []string{home.Claude, home.Codex} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, name, home.LoggedIn, longTimeout, loopback.InOrder(loopback.Text(answered), structured(name, city)))
			first, err := c.Complete(t.Context(), c.question(asked))
			require.NoError(t, err)
			req := c.question("where?")
			req.Session, req.Schema = first.Session, json.RawMessage(citySchema)
			resp, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.JSONEq(t, city, resp.Text)
			require.Equal(t, first.Session, resp.Session)
			require.Contains(t, string(c.server.Calls()[1].Body), asked)
			asksForCity(t, name, c.server.Calls()[1])
		})
	}
}
