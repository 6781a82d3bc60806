package openai_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai"
)

// ignorable are fields that the server ignores by default, and their entry in the header.
var ignorable = []struct{ path, fields, entry string }{
	{chat, `"temperature":0`, "temperature"},
	{chat, `"top_p":0.5`, "top_p"},
	{chat, `"top_k":40`, "top_k"},
	{chat, `"seed":1`, "seed"},
	{chat, `"max_tokens":10`, "max_tokens"},
	{chat, `"max_completion_tokens":10`, "max_completion_tokens"},
	{chat, `"presence_penalty":1`, "presence_penalty"},
	{chat, `"frequency_penalty":1`, "frequency_penalty"},
	{chat, `"logit_bias":{"1":2}`, "logit_bias"},
	{chat, `"store":true`, "store"},
	{chat, `"verbosity":"low","service_tier":"flex"`, "service_tier, verbosity"},
	{chat, `"prediction":{"type":"content","content":"x"}`, "prediction"},
	{chat, `"messages":[{"role":"system","name":"a","content":"x"},{"role":"user","name":"b","content":"x"}]`, "messages.name"},
	{chat, `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + png + `","detail":"high"}}]}]`, "messages.content.image_url.detail"},
	{responses, `"store":true,"truncation":"auto","max_tool_calls":1`, "max_tool_calls, store, truncation"},
	{responses, `"max_output_tokens":9,"temperature":0.1`, "max_output_tokens, temperature"},
	{responses, `"reasoning":{"summary":"auto"}`, "reasoning.summary"},
	{responses, `"text":{"verbosity":"low"}`, "text.verbosity"},
	{chat, `"temperature":1,"user":"u","metadata":{"a":"b"}`, ""},
}

// bodyWith returns a request body with more fields.
func bodyWith(path, fields string) string {
	rest := `"messages":[{"role":"user","content":"hi"}]`
	if path == responses {
		rest = `"input":"hi"`
	}
	if strings.Contains(fields, `"messages"`) {
		return "{" + fields + "}"
	}
	return "{" + fields + "," + rest + "}"
}

// TestIgnoredFields checks that the server ignores fields that do not change the meaning of a request, in answers and
// in streams. It names them in a header, and logs each field once.
func TestIgnoredFields(t *testing.T) {
	var log bytes.Buffer
	s := serving(t, says("x"), func(c *openai.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for _, test := range ignorable {
		for range 2 {
			for _, stream := range []string{"", `"stream":true,`} {
				a := post(t, s, test.path, bodyWith(test.path, stream+test.fields))
				require.Equal(t, 200, a.status, a.body)
				require.Equal(t, test.entry, a.header.Get("Clichain-Ignored"), test.fields)
			}
		}
	}
	for _, field := range []string{"temperature", "seed", "messages.name", "text.verbosity", "reasoning.summary"} {
		require.Equal(t, 1, strings.Count(log.String(), "field="+field+"\n"), field)
	}
}

// TestStrictFields checks that a strict server refuses each of these fields by name.
func TestStrictFields(t *testing.T) {
	s := serving(t, says("x"), func(c *openai.Config) { c.Strict = true })
	for _, test := range ignorable {
		a := post(t, s, test.path, bodyWith(test.path, test.fields))
		if test.entry == "" {
			require.Equal(t, 200, a.status, a.body)
			continue
		}
		require.Equal(t, 400, a.status, test.fields)
		e := a.failure(t)
		require.Equal(t, "unsupported_parameter", e.Code)
		last := test.entry[strings.LastIndexAny(test.entry, " .")+1:]
		require.True(t, strings.Contains(test.entry, e.Param) || strings.HasSuffix(e.Param, "."+last), "%s: %s", test.fields, e.Param)
		require.Contains(t, e.Message, "without Config.Strict it is ignored")
		require.Empty(t, a.header.Get("Clichain-Ignored"))
	}
}

// TestStop checks that the text ends before the stop text that is complete first, wherever the pieces of the text end.
func TestStop(t *testing.T) {
	for _, test := range []struct {
		name, text, stop, want string
		stopped                bool
	}{
		{"one text", "one. two", `"."`, "one", true},
		{"not found", "one two", `"."`, "one two", false},
		{"at the begin", "one", `"o"`, "", true},
		{"at the end", "one.", `["."]`, "one", true},
		{"begin of a stop text at the end", "one<en", `"<end>"`, "one<en", false},
		{"begin of a stop text twice", "a<<end>b", `"<end>"`, "a<", true},
		{"repetition in the stop text", "aabaabaaab", `"aabaaa"`, "aab", true},
		{"the first of several", "abcdef", `["e","c","x"]`, "ab", true},
		{"overlap, the inner one is complete first", "abcd", `["bcd","c"]`, "ab", true},
		{"overlap with the same end", "abcd", `["c","bc"]`, "a", true},
		{"a stop text that begins with another", "abcd", `["bcd","bc"]`, "a", true},
		{"line ends", "a\nb\n\nc", `"\n\n"`, "a\nb", true},
		{"multibyte", "né ü €uro", `"€"`, "né ü ", true},
		{"the first bytes of a multibyte text", "aèb", `"é"`, "aèb", false},
		{"surrogate pair", "a😀b😁c", `"\ud83d\ude01"`, "a😀b", true},
		{"empty texts", "abc", `["","b",null]`, "a", true},
		{"only empty texts", "abc", `""`, "abc", false},
		{"no list", "abc", `null`, "abc", false},
		{"no texts", "abc", `[]`, "abc", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := bodyWith(chat, `"stop":`+test.stop)
			a := post(t, serving(t, says(test.text)), chat, body)
			require.Equal(t, 200, a.status, a.body)
			require.Contains(t, a.body, `"finish_reason":"stop"`)
			require.Contains(t, a.body, `"content":`+quoted(t, test.want)+`,"refusal"`)
			for size := 1; size <= len([]rune(test.text)); size++ {
				var pieces []string
				for rest := []rune(test.text); len(rest) > 0; {
					n := min(size, len(rest))
					pieces, rest = append(pieces, string(rest[:n])), rest[n:]
				}
				a := post(t, serving(t, says(pieces...)), chat, strings.Replace(body, "{", `{"stream":true,`, 1))
				text, _, complete := streamed(t, a.body)
				require.Equal(t, test.want, text, "pieces of %d", size)
				require.True(t, complete)
				require.Contains(t, a.body, `"finish_reason":"stop"`)
			}
		})
	}
}

// TestStopEndsCall checks that a stop text in a stream ends the call, and that the stream has the usage so far.
func TestStopEndsCall(t *testing.T) {
	backend := &script{events: []clichain.Event{
		{Kind: clichain.EventStart, Backend: "one"}, {Kind: clichain.EventSession, Backend: "one", Model: "m"},
		{Kind: clichain.EventUsage, Backend: "one", Usage: clichain.Usage{InputTokens: 5, OutputTokens: 1}},
		delta("a.b"), delta("more"), done("a.bmore"),
	}}
	reached := make(chan string, 10)
	backend.yielded = func(e clichain.Event) { reached <- e.Text }
	a := post(t, serving(t, backend), chat, bodyWith(chat, `"stop":".","stream":true,"stream_options":{"include_usage":true}`))
	text, _, complete := streamed(t, a.body)
	require.Equal(t, "a", text)
	require.True(t, complete)
	require.Contains(t, a.body, `"prompt_tokens":5,"completion_tokens":1`)
	require.Contains(t, a.body, `"model":"m"`)
	close(reached)
	var seen []string
	for text := range reached {
		seen = append(seen, text)
	}
	require.Equal(t, "a.b", seen[len(seen)-1])
}

// TestStopAfterReset checks that a stop text counts only once, and not in text that the backend took back unsent.
func TestStopAfterReset(t *testing.T) {
	for _, test := range []struct {
		name   string
		events []clichain.Event
		want   string
	}{
		{"across a reset", []clichain.Event{delta("ab<"), reset(), delta("ab"), delta("<end>c"), done("ab<end>c")}, "ab"},
		{"in the final answer only", []clichain.Event{delta("ab"), done("ab<end>c")}, "ab"},
		{"in no delta", []clichain.Event{done("ab<end>c")}, "ab"},
	} {
		a := post(t, serving(t, &script{events: test.events}), chat, bodyWith(chat, `"stop":"<end>","stream":true`))
		text, code, complete := streamed(t, a.body)
		require.Equal(t, test.want, text, test.name)
		require.Empty(t, code)
		require.True(t, complete)
	}
}

// TestStopReplacesLength checks that an answer that a stop text ends is complete although the CLI cut it later.
func TestStopReplacesLength(t *testing.T) {
	e := done("a.b")
	e.Response.Flags = []call.Flag{call.FlagTruncated}
	a := post(t, serving(t, &script{events: []clichain.Event{e}}), chat, bodyWith(chat, `"stop":"."`))
	require.Contains(t, a.body, `"finish_reason":"stop"`)
}
