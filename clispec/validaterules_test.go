package clispec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/stretchr/testify/require"
)

var malformedRules = []malformed{
	{"accept", func(s *spec) { s.Models.Accept = []string{"a", "("} }, "models.accept[1]", "not a regular expression"},
	{"guard", func(s *spec) { s.Guards[0].Pattern = "[" }, "guards[0].pattern", "not a regular expression"},
	{"preflight without a reason", func(s *spec) { s.Preflight[0].Reason = "" }, "preflight[0].reason", "is missing"},
	{"preflight's reason", func(s *spec) { s.Preflight[0].Reason = "root" }, "preflight[0].reason", "is not a reason"},
	{"preflight without a message", func(s *spec) { s.Preflight[0].Message = "" }, "preflight[0].message", "is missing"},
	{"preflight's condition", func(s *spec) { s.Preflight[0].When.Set = []string{"x"} }, "preflight[0].when.set[0]", "is not a field of a request"},

	{"no match", func(s *spec) { s.Events[0].Match = nil }, "events[0].match", "would match every line"},
	{"match pattern", func(s *spec) { s.Events[1].Match["type"] = "*" }, "events[1].match.type", "not a regular expression"},
	{"match path", func(s *spec) { s.Events[1].Match[""] = "x" }, "events[1].match", "is not a path"},
	{"an element without each", func(s *spec) { s.Events[1].Match["@.kind"] = "x" }, "events[1].match", "the rule has no each"},
	{"an element without each in set", func(s *spec) { s.Events[1].Set["text"] = "@.x" }, "events[1].set.text", "the rule has no each"},
	{"a long path", func(s *spec) { s.Events[1].Match[strings.Repeat("x", 201)] = "x" }, "events[1].match", "too long"},
	{"no kind", func(s *spec) { s.Events[0].Kind = "" }, "events[0].kind", "is empty: write one of"},
	{"kind", func(s *spec) { s.Events[0].Kind = "speech" }, "events[0].kind", "is none of"},
	{"the engine's own kind", func(s *spec) { s.Events[0].Kind = call.EventDone }, "events[0].kind", "is none of"},
	{"event field", func(s *spec) { s.Events[0].Set["txt"] = "a" }, "events[0].set", "is not a field of an event"},
	{"event field's path", func(s *spec) { s.Events[0].Set["text"] = "" }, "events[0].set.text", "is not a path"},
	{"an empty alternative", func(s *spec) { s.Events[0].Set["text"] = "a ??  ?? b" }, "events[0].set.text", "is not a path"},
	{"a terminal event that is none", func(s *spec) { s.Events[0].Terminal = true }, "events[0].terminal", "cannot be terminal"},
	{"nothing is terminal", func(s *spec) { s.Events[1].Terminal = false }, "events", "no rule is terminal"},
	{"a stream without rules", func(s *spec) { s.Events = nil }, "events", "no rule is terminal"},

	{"pattern", func(s *spec) { s.Lines[0].Pattern = "(?P<status" }, "lines[0].pattern", "not a regular expression"},
	{"no pattern", func(s *spec) { s.Lines[0] = clispec.LineRule{Reason: call.ReasonExit} }, "lines[0].pattern", "matches the empty line"},
	{"a pattern for everything", func(s *spec) { s.Lines[0].Pattern = `(?P<status>\d*)` }, "lines[0].pattern", "matches the empty line"},
	{"group", func(s *spec) { s.Lines[0].Pattern = `(?P<status>\d) (?P<code>x)` }, "lines[0].pattern", "is not a known group"},
	{"line's hint", func(s *spec) { s.Lines[0].Hint = "set {variable}" }, "lines[0].hint", "is not a group of the pattern"},
	{"line without a reason", func(s *spec) { s.Lines[0].Pattern = "x" }, "lines[0].reason", "is missing"},
	{"line's reason", func(s *spec) { s.Lines[0].Reason = "oops" }, "lines[0].reason", "is not a reason"},
	{"line's cooldown", func(s *spec) { s.Lines[0].CooldownS = -1 }, "lines[0].cooldown_s", "must be 0 to 691200"},
	{"line's endless cooldown", func(s *spec) { s.Lines[0].CooldownS = 691_201 }, "lines[0].cooldown_s", "must be 0 to 691200"},
	{"line's kind", func(s *spec) { s.Lines[0].Kind = call.EventText }, "lines[0].kind", "is none of"},
	{"line's place", func(s *spec) { s.Lines[0].On[0] = "stdin" }, "lines[0].on[0]", "is none of"},

	{"most without a number", func(s *spec) { s.Events[0].Set = map[string]string{"model": "a|@most:"} }, "events[0].set.model", "needs the path of an object"},
	{"most without an object", func(s *spec) { s.Events[0].Set = map[string]string{"model": "|@most:a"} }, "events[0].set.model", "needs the path of an object"},
	{"most in a condition", func(s *spec) { s.Events[0].Match = map[string]string{"a|@most:b": "c"} }, "events[0].match", "valid only in set"},
	{"most in each", func(s *spec) { s.Events[0].Each = "a|@most:b" }, "events[0].each", "valid only in set"},
	{"the line before the prompt", func(s *spec) { s.Text.Prompt = "(" }, "text.prompt", "not a regular expression"},
	{"lines of its own", func(s *spec) { s.Text.Own = "(" }, "text.own", "not a regular expression"},

	{"exit code 0", func(s *spec) { s.ExitCodes[0] = call.ReasonExit }, "exit_codes", "must be 1 to 255"},
	{"exit code 256", func(s *spec) { s.ExitCodes[256] = call.ReasonExit }, "exit_codes", "must be 1 to 255"},
	{"exit code's reason", func(s *spec) { s.ExitCodes[41] = "login" }, "exit_codes[41]", "is not a reason"},
	{"hint's reason", func(s *spec) { s.Hints["login"] = "x" }, "hints", "is not a reason"},
}

func TestMalformedRules(t *testing.T) {
	requireMistakes(t, malformedRules)
	require.Greater(t, len(malformedTables)+len(malformedRules), 45)
}

// The reports of one spec are the same each time, though it has maps.
func TestMistakesAreInOrder(t *testing.T) {
	s := sound()
	s.ExitCodes, s.Hints, s.Models.Aliases = map[int]call.Reason{}, map[call.Reason]string{}, map[string]string{}
	for i := range 20 {
		s.ExitCodes[300+i], s.Hints[call.Reason(fmt.Sprint("x", i))], s.Models.Aliases[fmt.Sprint("a", i)] = "x", "x", ""
	}
	s.PassEnv, s.DropEnv = []string{"-"}, []string{"-"}
	want := s.Validate().Error()
	for range 10 {
		require.Equal(t, want, s.Validate().Error())
	}
}
