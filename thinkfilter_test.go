package clichain_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

// eventsOf makes events of "kind:text" words.
func eventsOf(script string) (events []clichain.Event) {
	for word := range strings.FieldsSeq(script) {
		kind, text, _ := strings.Cut(word, ":")
		kind, failed := strings.CutSuffix(kind, "!")
		events = append(events, clichain.Event{Kind: clichain.EventKind(kind), Text: text, Failed: failed})
	}
	return events
}

func TestCommentaryBecomesThinking(t *testing.T) {
	for _, test := range []struct {
		name, script string
		answered     bool
		want         string
	}{
		{"nothing", "", true, ""},
		{"an answer", "session text:A result", true, "session text:A result"},
		{"pieces of an answer", "delta:a delta:b result", true, "delta:a delta:b result"},
		{"text before a tool", "text:A tool_use tool_result text:B result", true, "thinking:A tool_use tool_result text:B result"},
		{"pieces before a tool", "delta:a delta:b tool_use delta:c result", true, "thinking:a thinking:b tool_use delta:c result"},
		{"several tools", "text:A tool_use text:B tool_use text:C result", true, "thinking:A tool_use thinking:B tool_use text:C result"},
		{"a block before the last", "text:A text:B result", true, "thinking:A text:B result"},
		{"what overtakes", "text:A status warning usage raw thinking:t tool_result retry limit error tool_use", true, "status warning usage raw thinking:t tool_result retry limit error thinking:A tool_use"},
		{"tools only", "tool_use tool_result result", true, "tool_use tool_result result"},
		{"no last word, and no fault", "text:A status", true, "status text:A"},
		{"no last word", "text:A status", false, "status thinking:A"},
		{"a failed result", "text:A result!", false, "result! thinking:A"},
		{"a result, then more", "text:A result text:B result", true, "text:A result text:B result"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := eventsOf(test.want)
			require.Equal(t, want, clichain.WithoutCommentary(eventsOf(test.script), test.answered))
		})
	}
}

// Whatever comes, no text is lost, all other events keep their order, and the
// text of the stream is the text that the response has.
func TestCommentaryKeepsTheAnswer(t *testing.T) {
	kinds := []string{"delta", "text", "tool_use", "tool_result", "status", "thinking", "warning", "raw", "usage"}
	text := func(events []clichain.Event, which ...clichain.EventKind) string {
		var b strings.Builder
		for _, e := range events {
			for _, kind := range which {
				if e.Kind == kind {
					b.WriteString(e.Text + ";")
				}
			}
		}
		return b.String()
	}
	others := func(events []clichain.Event) (out []clichain.Event) {
		for _, e := range events {
			if e.Kind != clichain.EventDelta && e.Kind != clichain.EventText && e.Kind != clichain.EventThinking {
				out = append(out, e)
			}
		}
		return out
	}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		script, answer := "", ""
		for i := range r.IntN(30) {
			kind := kinds[r.IntN(len(kinds))]
			script += " " + kind + ":" + strconv.Itoa(i)
			switch kind {
			case "text":
				answer = strconv.Itoa(i) + ";"
			case "delta":
				answer += strconv.Itoa(i) + ";"
			case "tool_use":
				answer = ""
			}
		}
		events := eventsOf(script + " result")
		got := clichain.WithoutCommentary(events, true)
		require.Len(t, got, len(events), script)
		require.Equal(t, others(events), others(got), script)
		require.Equal(t, answer, text(got, clichain.EventDelta, clichain.EventText), script)
	}
}

func codexSays(text string) string {
	return `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"` + text + `"}}` + "\n"
}

const codexRuns = `{"type":"item.started","item":{"id":"t","type":"command_execution","command":"ls"}}` + "\n" +
	`{"type":"item.completed","item":{"id":"t","type":"command_execution","aggregated_output":"x","exit_code":0}}` + "\n"

// textsOf are the texts and the thoughts of a stream, and its error.
func textsOf(p clichain.Backend, t *testing.T) (text, thinking []string, err error) {
	for e, failure := range p.Stream(t.Context(), clichain.Prompt("hi")) {
		switch {
		case failure != nil:
			err = failure
		case e.Kind == clichain.EventText:
			text = append(text, e.Text)
		case e.Kind == clichain.EventThinking:
			thinking = append(thinking, e.Text)
		}
	}
	return text, thinking, err
}

func TestStreamOfCodexHasNoCommentary(t *testing.T) {
	for _, test := range []struct {
		name           string
		cfg            clichain.Config
		text, thinking []string
	}{
		{"by default", clichain.Config{}, []string{"done"}, []string{"let me look", "and again"}},
		{"kept", clichain.Config{KeepCommentary: true}, []string{"let me look", "and again", "done"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			clitest.NoLeaks(t)
			p := provider(t, specs.Codex(), test.cfg, play(stdout(codexSays("let me look")+codexRuns+codexSays("and again")+codexRuns+codexAnswer("done"))))
			text, thinking, err := textsOf(p, t)
			require.NoError(t, err)
			require.Equal(t, test.text, text)
			require.Equal(t, test.thinking, thinking)
		})
	}
}

// What was no more than commentary is no text a failed attempt has delivered:
// the chain may go on.
func TestCommentaryDoesNotEndAChain(t *testing.T) {
	clitest.NoLeaks(t)
	broken := provider(t, specs.Codex(), clichain.Config{Timeout: time.Second}, play(stdout(codexSays("let me look")), clitest.Step{Hang: true}))
	healthy := provider(t, specs.Codex(), clichain.Config{}, play(stdout(codexAnswer("done"))))
	text, thinking, err := textsOf(clichain.ChainOf([]clichain.Backend{broken, healthy}, nil), t)
	require.NoError(t, err)
	require.Equal(t, []string{"done"}, text)
	require.Equal(t, []string{"let me look"}, thinking)

	_, err = broken.Complete(t.Context(), clichain.Prompt("hi"))
	require.Equal(t, "let me look", requireReason(t, clichain.ReasonTimeout, err).Partial, "the error has the text")
}
