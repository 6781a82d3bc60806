package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai"
)

// changing matches the parts of a response that differ each time.
var changing = regexp.MustCompile(`(chatcmpl-|resp_|msg_)[a-z2-7]{26}|("created(?:_at)?": ?)\d+`)

// golden compares a text with a golden file.
func golden(t *testing.T, name, text string) {
	t.Helper()
	text = changing.ReplaceAllString(text, "${1}${2}0")
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

func indented(t *testing.T, body string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.Indent(&out, []byte(body), "", "  "))
	return out.String()
}

// TestAnswers compares whole responses and streams of both APIs with golden files.
func TestAnswers(t *testing.T) {
	s := serving(t, says("Hello", ", <world> & ", "all"))
	for _, test := range []struct{ name, path, body string }{
		{"chat.json", chat, hi},
		{"chat.stream", chat, strings.Replace(hi, `"model"`, `"stream":true,"stream_options":{"include_usage":true},"model"`, 1)},
		{"responses.json", responses, `{"model":"clichain","input":"hi","instructions":"be brief","metadata":{"a":"b"}}`},
		{"responses.stream", responses, `{"model":"clichain","input":"hi","stream":true}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := post(t, s, test.path, test.body)
			require.Equal(t, 200, a.status, a.body)
			require.Equal(t, "one", a.header.Get("Clichain-Backend"))
			if strings.HasSuffix(test.name, ".json") {
				require.Equal(t, "zero=not_installed", a.header.Get("Clichain-Attempts"))
				require.Equal(t, "application/json", a.header.Get("Content-Type"))
				a.body = indented(t, a.body)
			} else {
				require.Equal(t, "text/event-stream", a.header.Get("Content-Type"))
			}
			golden(t, test.name, a.body)
		})
	}
}

// streamed returns the text that a client of chat completions has received at the end of a stream, and the code of a
// final error.
func streamed(t *testing.T, body string) (text, code string, complete bool) {
	t.Helper()
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return text, "", true
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
			Error   *struct{ Code string }
		}
		require.NoError(t, json.Unmarshal([]byte(data), &chunk))
		if chunk.Error != nil {
			return text, chunk.Error.Code, false
		}
		for _, c := range chunk.Choices {
			text += c.Delta.Content
		}
	}
	return text, "", false
}

var streamHi = strings.Replace(hi, `"model"`, `"stream":true,"model"`, 1)

// TestResets checks that a client receives exactly the answer or an error, because sent text cannot be taken back.
func TestResets(t *testing.T) {
	for _, test := range []struct {
		name   string
		events []clichain.Event
		text   string
		code   string
	}{
		{"no reset", []clichain.Event{delta("a"), delta("b"), done("ab")}, "ab", ""},
		{"reset before any text", []clichain.Event{reset(), delta("ab"), done("ab")}, "ab", ""},
		{"same text after a reset", []clichain.Event{delta("abc"), reset(), delta("ab"), delta("cd"), done("abcd")}, "abcd", ""},
		{"shorter text between resets", []clichain.Event{delta("abc"), reset(), delta("a"), reset(), delta("abcd"), done("abcd")}, "abcd", ""},
		{"different text between resets", []clichain.Event{delta("abc"), reset(), delta("axxxx"), reset(), delta("abcd"), done("abcd")}, "abcd", ""},
		{"different text after a reset", []clichain.Event{delta("abc"), reset(), delta("abX"), done("abX")}, "abc", "answer_changed"},
		{"shorter answer after a reset", []clichain.Event{delta("abc"), reset(), delta("ab"), done("ab")}, "abc", "answer_changed"},
		{"different final answer", []clichain.Event{delta("abc"), done("xyz")}, "abc", "answer_changed"},
		{"longer final answer", []clichain.Event{delta("abc"), done("abcdef")}, "abcdef", ""},
		{"text with surrounding blanks", []clichain.Event{delta("abc\n"), done("abc")}, "abc\n", ""},
		{"only the final answer", []clichain.Event{done("abc")}, "abc", ""},
		{"pieces of letters", []clichain.Event{delta("né"), reset(), delta("n"), delta("éé"), done("néé")}, "néé", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := post(t, serving(t, &script{events: test.events}), chat, streamHi)
			require.Equal(t, 200, a.status)
			text, code, complete := streamed(t, a.body)
			require.Equal(t, test.text, text)
			require.Equal(t, test.code, code)
			require.Equal(t, test.code == "", complete)
			if test.code != "" {
				return
			}
			a = post(t, serving(t, &script{events: test.events}), responses, `{"input":"hi","stream":true}`)
			require.Contains(t, a.body, "event: response.completed\n")
		})
	}
}

// TestHeldStreams checks that the server sends no text before the final answer if BufferStreams is set or the request
// has a schema.
func TestHeldStreams(t *testing.T) {
	events := []clichain.Event{delta("```json\n{}\n```"), reset(), delta("{}"), done("{}")}
	schema := strings.Replace(streamHi, `"model"`, `"response_format":{"type":"json_object"},"model"`, 1)
	a := post(t, serving(t, &script{events: events}), chat, schema)
	text, _, complete := streamed(t, a.body)
	require.Equal(t, "{}", text)
	require.True(t, complete)
	require.Equal(t, "zero=not_installed", a.header.Get("Clichain-Attempts"))
	a = post(t, serving(t, &script{events: events}, func(c *openai.Config) { c.BufferStreams = true }), chat, streamHi)
	text, _, complete = streamed(t, a.body)
	require.Equal(t, "{}", text)
	require.True(t, complete)
}

// TestStreamFails checks that a failure before the first text sets the status, and that a later failure ends the
// stream with an error.
func TestStreamFails(t *testing.T) {
	limited := &clichain.BackendError{Backend: "one", Reason: clichain.ReasonRateLimited, Message: "slow down"}
	a := post(t, serving(t, &script{err: limited}), chat, streamHi)
	require.Equal(t, http.StatusTooManyRequests, a.status)
	require.Equal(t, "rate_limit_exceeded", a.failure(t).Code)

	late := &script{events: []clichain.Event{delta("a")}, err: limited}
	a = post(t, serving(t, late), chat, streamHi)
	require.Equal(t, 200, a.status)
	text, code, complete := streamed(t, a.body)
	require.Equal(t, "a", text)
	require.Equal(t, "rate_limit_exceeded", code)
	require.False(t, complete)
	a = post(t, serving(t, late), responses, `{"input":"hi","stream":true}`)
	require.Contains(t, a.body, "event: response.failed\n")
	require.NotContains(t, a.body, "response.completed")
}

// TestTruncated checks that the response of a truncated answer has the reason.
func TestTruncated(t *testing.T) {
	e := done("half")
	e.Response.Flags = []call.Flag{call.FlagTruncated}
	s := serving(t, &script{events: []clichain.Event{e}})
	require.Contains(t, post(t, s, chat, hi).body, `"finish_reason":"length"`)
	require.Contains(t, post(t, s, chat, streamHi).body, `"finish_reason":"length"`)
	require.Contains(t, post(t, s, responses, `{"input":"hi"}`).body, `"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"}`)
	require.Contains(t, post(t, s, responses, `{"input":"hi","stream":true}`).body, "event: response.incomplete\n")
}

// TestErrors checks the status, the type and the headers of each failure, on which clients base their retries.
func TestErrors(t *testing.T) {
	type failed = clichain.BackendError
	chain := func(all ...*failed) error {
		err := &clichain.ChainError{}
		for _, e := range all {
			err.Attempts = append(err.Attempts, clichain.Attempt{Backend: e.Backend, Reason: e.Reason, Skipped: e.Stage == call.StageSkipped, Err: e})
		}
		return err
	}
	soon, late := time.Now().Add(20*time.Second), time.Now().Add(2*time.Hour)
	for _, test := range []struct {
		name              string
		err               error
		status            int
		kind, code, param string
		retry             string // a pattern of Retry-After
		useless           bool
	}{
		{"rate limit", chain(&failed{Backend: "a", Reason: clichain.ReasonRateLimited, RetryAfter: soon}), 429, "rate_limit_error", "rate_limit_exceeded", "", `^(19|20)$`, false},
		{"usage limit", chain(&failed{Backend: "a", Reason: clichain.ReasonUsageLimit, RetryAfter: late}), 429, "insufficient_quota", "insufficient_quota", "", `^7\d\d\d$`, true},
		{"earliest retry time", chain(&failed{Backend: "a", Reason: clichain.ReasonUsageLimit, RetryAfter: soon}, &failed{Backend: "b", Reason: clichain.ReasonOverloaded}), 503, "server_error", "overloaded", "", `^(19|20)$`, false},
		{"logged out", chain(&failed{Backend: "a", Reason: clichain.ReasonUnauthenticated}), 503, "server_error", "unauthenticated", "", `^$`, true},
		{"timeout", chain(&failed{Backend: "a", Reason: clichain.ReasonTimeout}), 504, "server_error", "timeout", "", `^$`, false},
		{"context overflow", chain(&failed{Backend: "a", Reason: clichain.ReasonContextOverflow}), 400, "invalid_request_error", "context_length_exceeded", "", `^$`, true},
		{"bad model", chain(&failed{Backend: "a", Reason: clichain.ReasonBadModel}), 404, "invalid_request_error", "model_not_found", "", `^$`, true},
		{"backend of the model is not installed", chain(&failed{Backend: "a", Reason: clichain.ReasonModelMismatch, Stage: call.StageSkipped},
			&failed{Backend: "b", Reason: clichain.ReasonNotInstalled, Stage: call.StageSkipped}), 503, "server_error", "not_installed", "", `^$`, true},
		{"unsupported", chain(&failed{Backend: "a", Reason: clichain.ReasonUnsupported, Option: "options.effort", Stage: call.StageSkipped}), 400, "invalid_request_error", "unsupported_parameter", "reasoning_effort", `^$`, true},
		{"invalid request", &clichain.ChainError{Cause: &failed{Reason: clichain.ReasonBadRequest, Option: "messages[0].content"}}, 400, "invalid_request_error", "bad_request", "messages[0].content", `^$`, true},
		{"invalid settings", chain(&failed{Backend: "a", Reason: clichain.ReasonBadOption, Option: "config.binary"}), 503, "server_error", "bad_option", "", `^$`, true},
		{"unknown error", fmt.Errorf("strange"), 502, "server_error", "exit", "", `^$`, true},
		{"custom reason", chain(&failed{Backend: "a", Reason: "own"}), 502, "server_error", "own", "", `^$`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := post(t, serving(t, &script{err: test.err}), chat, hi)
			require.Equal(t, test.status, a.status, a.body)
			e := a.failure(t)
			require.Equal(t, test.kind, e.Type)
			require.Equal(t, test.code, e.Code)
			require.Equal(t, test.param, e.Param)
			require.Regexp(t, test.retry, a.header.Get("Retry-After"))
			require.Equal(t, test.useless, a.header.Get("X-Should-Retry") == "false")
		})
	}
	a := post(t, serving(t, &script{err: chain(&failed{Backend: "a", Reason: clichain.ReasonExit, Stderr: "secret", Partial: "secret"},
		&failed{Backend: "b", Reason: clichain.ReasonNetwork})}), chat, hi)
	require.Equal(t, "a=exit, b=network", a.header.Get("Clichain-Attempts"))
	require.NotContains(t, a.body, "secret")
}

// TestValidationErrors checks that an error of the library's validation has the field name of the API.
func TestValidationErrors(t *testing.T) {
	s := serving(t, clichain.ChainOf([]clichain.Backend{says("x")}, nil))
	e := post(t, s, chat, `{"model":"clichain"}`).failure(t)
	require.Equal(t, "messages", e.Param)
	e = post(t, s, chat, `{"messages":[{"role":"user","content":"a\u0000b"}]}`).failure(t)
	require.Equal(t, "messages[0].content", e.Param)
	e = post(t, s, responses, `{"input":""}`).failure(t)
	require.Equal(t, "input", e.Param)
}

// TestStreamWithBlanks checks that the blanks around a text that a backend trims later do not make it another text.
func TestStreamWithBlanks(t *testing.T) {
	backend := &script{events: []clichain.Event{delta(" a "), delta(" "), delta(" b\n"), done("a   b")}}
	text, _, complete := streamed(t, post(t, serving(t, backend), chat, streamHi).body)
	require.Equal(t, " a   b\n", text)
	require.True(t, complete)
}
