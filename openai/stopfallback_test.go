package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// A stream that a stop text ends has the model and the usage of the backend that answered. Any other stream has those
// of the response.
func TestStopAfterFallback(t *testing.T) {
	start := func(backend string) clichain.Event {
		return clichain.Event{Kind: clichain.EventStart, Backend: backend}
	}
	model := func(name string) clichain.Event { return clichain.Event{Kind: clichain.EventSession, Model: name} }
	used := func(in, out int64) clichain.Event {
		return clichain.Event{Kind: clichain.EventUsage, Usage: clichain.Usage{InputTokens: in, OutputTokens: out}}
	}
	failed := clichain.Event{Kind: clichain.EventAttempt, Attempt: &clichain.Attempt{Backend: "zero", Reason: clichain.ReasonNetwork}}
	answer := func(r clichain.Response) clichain.Event {
		r.Backend = "one"
		return clichain.Event{Kind: clichain.EventDone, Response: &r}
	}
	for _, test := range []struct {
		name   string
		events []clichain.Event
		want   string
	}{
		{
			"usage", []clichain.Event{start("zero"), used(7, 7), failed, start("one"), used(5, 0), used(0, 1), delta("a.b")},
			`"prompt_tokens":5,"completion_tokens":1`,
		},
		{"model", []clichain.Event{start("zero"), model("z"), failed, start("one"), model("m"), model(""), delta("a.b")}, `"model":"m"`},
		{"no model", []clichain.Event{start("zero"), model("z"), failed, start("one"), delta("a.b")}, `"model":"clichain"`},
		{"response without model", []clichain.Event{start("one"), model("m"), answer(clichain.Response{Text: "a"})}, `"model":"m"`},
		{
			"truncated after the stop text",
			[]clichain.Event{start("one"), answer(clichain.Response{Text: "a.b", Flags: []call.Flag{call.FlagTruncated}})},
			`"finish_reason":"stop"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := bodyWith(chat, `"stop":".","stream":true,"stream_options":{"include_usage":true}`)
			a := post(t, serving(t, &script{events: test.events}), chat, body)
			text, _, complete := streamed(t, a.body)
			require.Equal(t, "a", text)
			require.True(t, complete)
			require.Contains(t, a.body, test.want)
		})
	}
}
