package clichain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

var malformedRules = []malformed{
	{"accept", func(s *spec) { s.Models.Accept = []string{"a", "("} }, "models.accept[1]", "no regular expression"},
	{"guard", func(s *spec) { s.Guards[0].Pattern = "[" }, "guards[0].pattern", "no regular expression"},
	{"preflight without a reason", func(s *spec) { s.Preflight[0].Reason = "" }, "preflight[0].reason", "is missing"},
	{"preflight's reason", func(s *spec) { s.Preflight[0].Reason = "root" }, "preflight[0].reason", "is no reason"},
	{"preflight without a message", func(s *spec) { s.Preflight[0].Message = "" }, "preflight[0].message", "is missing"},
	{"preflight's condition", func(s *spec) { s.Preflight[0].When.Set = []string{"x"} }, "preflight[0].when.set[0]", "is no field of a request"},

	{"no match", func(s *spec) { s.Events[0].Match = nil }, "events[0].match", "would match every line"},
	{"match pattern", func(s *spec) { s.Events[1].Match["type"] = "*" }, "events[1].match.type", "no regular expression"},
	{"match path", func(s *spec) { s.Events[1].Match[""] = "x" }, "events[1].match", "is no path"},
	{"an element without each", func(s *spec) { s.Events[1].Match["@.kind"] = "x" }, "events[1].match", "the rule has no each"},
	{"an element without each in set", func(s *spec) { s.Events[1].Set["text"] = "@.x" }, "events[1].set.text", "the rule has no each"},
	{"a long path", func(s *spec) { s.Events[1].Match[strings.Repeat("x", 201)] = "x" }, "events[1].match", "too long"},
	{"no kind", func(s *spec) { s.Events[0].Kind = "" }, "events[0].kind", "is empty: write one of"},
	{"kind", func(s *spec) { s.Events[0].Kind = "speech" }, "events[0].kind", "is none of"},
	{"the engine's own kind", func(s *spec) { s.Events[0].Kind = clichain.EventDone }, "events[0].kind", "is none of"},
	{"event field", func(s *spec) { s.Events[0].Set["txt"] = "a" }, "events[0].set", "is no field of an event"},
	{"event field's path", func(s *spec) { s.Events[0].Set["text"] = "" }, "events[0].set.text", "is no path"},
	{"an empty alternative", func(s *spec) { s.Events[0].Set["text"] = "a ??  ?? b" }, "events[0].set.text", "is no path"},
	{"a terminal event that is none", func(s *spec) { s.Events[0].Terminal = true }, "events[0].terminal", "cannot be terminal"},
	{"nothing is terminal", func(s *spec) { s.Events[1].Terminal = false }, "events", "no rule is terminal"},
	{"a stream without rules", func(s *spec) { s.Events = nil }, "events", "no rule is terminal"},

	{"pattern", func(s *spec) { s.Lines[0].Pattern = "(?P<status" }, "lines[0].pattern", "no regular expression"},
	{"no pattern", func(s *spec) { s.Lines[0] = clichain.LineRule{Reason: clichain.ReasonExit} }, "lines[0].pattern", "matches the empty line"},
	{"a pattern for everything", func(s *spec) { s.Lines[0].Pattern = `(?P<status>\d*)` }, "lines[0].pattern", "matches the empty line"},
	{"group", func(s *spec) { s.Lines[0].Pattern = `(?P<status>\d) (?P<code>x)` }, "lines[0].pattern", "is no group with a meaning"},
	{"line without a reason", func(s *spec) { s.Lines[0].Pattern = "x" }, "lines[0].reason", "is missing"},
	{"line's reason", func(s *spec) { s.Lines[0].Reason = "oops" }, "lines[0].reason", "is no reason"},
	{"line's kind", func(s *spec) { s.Lines[0].Kind = clichain.EventText }, "lines[0].kind", "is none of"},
	{"line's place", func(s *spec) { s.Lines[0].On[0] = "stdin" }, "lines[0].on[0]", "is none of"},

	{"exit code 0", func(s *spec) { s.ExitCodes[0] = clichain.ReasonExit }, "exit_codes", "must be 1 to 255"},
	{"exit code 256", func(s *spec) { s.ExitCodes[256] = clichain.ReasonExit }, "exit_codes", "must be 1 to 255"},
	{"exit code's reason", func(s *spec) { s.ExitCodes[41] = "login" }, "exit_codes[41]", "is no reason"},
	{"hint's reason", func(s *spec) { s.Hints["login"] = "x" }, "hints", "is no reason"},
}

func TestMalformedRules(t *testing.T) {
	requireMistakes(t, malformedRules)
	require.Greater(t, len(malformedTables)+len(malformedRules), 45)
}

// A spec that went through JSON is the same spec, and does the same.
func TestSpecsSurviveJSON(t *testing.T) {
	for _, spec := range append(specs.All(), sound()) {
		t.Run(spec.Name, func(t *testing.T) {
			data, err := json.MarshalIndent(spec, "", "  ")
			require.NoError(t, err)
			loaded, err := specs.Load(strings.NewReader(string(data)))
			require.NoError(t, err)
			require.Equal(t, []clichain.CliSpec{spec}, loaded)
			again, err := json.MarshalIndent(loaded[0], "", "  ")
			require.NoError(t, err)
			require.Equal(t, string(data), string(again))
			original, copied := composerOf(t, spec), composerOf(t, loaded[0])
			for _, c := range append(matrix(), variations(spec.Name)...) {
				want, wantErr := original.Compose(c.req, c.wish, testHost())
				got, gotErr := copied.Compose(c.req, c.wish, testHost())
				require.Equal(t, want, got, c.name)
				require.Equal(t, wantErr, gotErr, c.name)
			}
		})
	}
}
