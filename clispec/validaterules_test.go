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
	{"invalid pattern of accepted models", func(s *spec) { s.Models.Accept = []string{"a", "("} }, "models.accept[1]", "not a regular expression"},
	{"invalid guard pattern", func(s *spec) { s.Guards[0].Pattern = "[" }, "guards[0].pattern", "not a regular expression"},
	{"preflight without a reason", func(s *spec) { s.Preflight[0].Reason = "" }, "preflight[0].reason", "is missing"},
	{"unknown preflight reason", func(s *spec) { s.Preflight[0].Reason = "root" }, "preflight[0].reason", "is not a reason"},
	{"preflight without a message", func(s *spec) { s.Preflight[0].Message = "" }, "preflight[0].message", "is missing"},
	{"unknown field in a preflight condition", func(s *spec) { s.Preflight[0].When.Set = []string{"x"} }, "preflight[0].when.set[0]", "is not a field of a request"},

	{"rule without a match", func(s *spec) { s.Events[0].Match = nil }, "events[0].match", "would match every line"},
	{"invalid match pattern", func(s *spec) { s.Events[1].Match["type"] = "*" }, "events[1].match.type", "not a regular expression"},
	{"empty match path", func(s *spec) { s.Events[1].Match[""] = "x" }, "events[1].match", "is not a path"},
	{"element path without each in match", func(s *spec) { s.Events[1].Match["@.kind"] = "x" }, "events[1].match", "the rule has no each"},
	{"element path without each in set", func(s *spec) { s.Events[1].Set["text"] = "@.x" }, "events[1].set.text", "the rule has no each"},
	{"path that is too long", func(s *spec) { s.Events[1].Match[strings.Repeat("x", 201)] = "x" }, "events[1].match", "too long"},
	{"empty event kind", func(s *spec) { s.Events[0].Kind = "" }, "events[0].kind", "is empty: write one of"},
	{"unknown event kind", func(s *spec) { s.Events[0].Kind = "speech" }, "events[0].kind", "is none of"},
	{"event kind that only the library emits", func(s *spec) { s.Events[0].Kind = call.EventDone }, "events[0].kind", "is none of"},
	{"unknown event field", func(s *spec) { s.Events[0].Set["txt"] = "a" }, "events[0].set", "is not a field of an event"},
	{"empty path of an event field", func(s *spec) { s.Events[0].Set["text"] = "" }, "events[0].set.text", "is not a path"},
	{"empty alternative path", func(s *spec) { s.Events[0].Set["text"] = "a ??  ?? b" }, "events[0].set.text", "is not a path"},
	{"field of a window without its name", func(s *spec) {
		s.Events[0].Kind, s.Events[0].Set = call.EventLimit, map[string]string{"window_used": "a"}
	}, "events[0].set.window", "is missing"},
	{"window in another event than a limit", func(s *spec) { s.Events[0].Set["window"] = "a" }, "events[0].set.window", "only a field of events of the kind limit"},
	{"window without a name", func(s *spec) { s.Quota.Windows = []clispec.WindowRow{{Minutes: 1}} }, "quota.windows[0].name", "is missing"},
	{"invalid name of a window", func(s *spec) { s.Quota.Windows = []clispec.WindowRow{{Name: "("}} }, "quota.windows[0].name", "not a regular expression"},
	{"invalid models of a window", func(s *spec) { s.Quota.Windows = []clispec.WindowRow{{Name: "a", Models: "("}} }, "quota.windows[0].models", "not a regular expression"},
	{"window of negative length", func(s *spec) { s.Quota.Windows = []clispec.WindowRow{{Name: "a", Minutes: -1}} }, "quota.windows[0].minutes", "is negative"},
	{"file of no session", func(s *spec) { s.Quota.File = "~/a" }, "quota.file", "does not contain {session}"},
	{"relative file of a session", func(s *spec) { s.Quota.File = "a/{session}" }, "quota.file", "must start with"},
	{"file of a session with an unknown form", func(s *spec) { s.Quota.File = "~/$A/{session}" }, "quota.file", "is not a path"},
	{"question without a live mode", func(s *spec) { s.Quota.Ask.Method = "plan/read" }, "quota.ask", "live"},
	{"several wildcards in a name", func(s *spec) { s.Quota.File = "~/*a*/{session}" }, "quota.file", "can have one"},

	{"terminal rule of an unsuitable kind", func(s *spec) { s.Events[0].Terminal = true }, "events[0].terminal", "cannot be terminal"},
	{"no terminal rule", func(s *spec) { s.Events[1].Terminal = false }, "events", "no rule is terminal"},
	{"stream without event rules", func(s *spec) { s.Events = nil }, "events", "no rule is terminal"},

	{"invalid line pattern", func(s *spec) { s.Lines[0].Pattern = "(?P<status" }, "lines[0].pattern", "not a regular expression"},
	{"empty line pattern", func(s *spec) { s.Lines[0] = clispec.LineRule{Reason: call.ReasonExit} }, "lines[0].pattern", "matches the empty line"},
	{"line pattern that matches the empty text", func(s *spec) { s.Lines[0].Pattern = `(?P<status>\d*)` }, "lines[0].pattern", "matches the empty line"},
	{"unknown group in a line pattern", func(s *spec) { s.Lines[0].Pattern = `(?P<status>\d) (?P<code>x)` }, "lines[0].pattern", "is not a known group"},
	{"unknown group in a line's hint", func(s *spec) { s.Lines[0].Hint = "set {variable}" }, "lines[0].hint", "is not a group of the pattern"},
	{"line without a reason", func(s *spec) { s.Lines[0].Pattern = "x" }, "lines[0].reason", "is missing"},
	{"unknown reason of a line", func(s *spec) { s.Lines[0].Reason = "oops" }, "lines[0].reason", "is not a reason"},
	{"negative cooldown of a line", func(s *spec) { s.Lines[0].CooldownS = -1 }, "lines[0].cooldown_s", "must be 0 to 691200"},
	{"cooldown of a line above the limit", func(s *spec) { s.Lines[0].CooldownS = 691_201 }, "lines[0].cooldown_s", "must be 0 to 691200"},
	{"unsuitable kind of a line", func(s *spec) { s.Lines[0].Kind = call.EventText }, "lines[0].kind", "is none of"},
	{"unknown source of a line", func(s *spec) { s.Lines[0].On[0] = "stdin" }, "lines[0].on[0]", "is none of"},

	{"most without a number", func(s *spec) { s.Events[0].Set = map[string]string{"model": "a|@most:"} }, "events[0].set.model", "needs the path of an object"},
	{"most without an object", func(s *spec) { s.Events[0].Set = map[string]string{"model": "|@most:a"} }, "events[0].set.model", "needs the path of an object"},
	{"most in a condition", func(s *spec) { s.Events[0].Match = map[string]string{"a|@most:b": "c"} }, "events[0].match", "valid only in set"},
	{"most in each", func(s *spec) { s.Events[0].Each = "a|@most:b" }, "events[0].each", "valid only in set"},
	{"invalid prompt pattern", func(s *spec) { s.Text.Prompt = "(" }, "text.prompt", "not a regular expression"},
	{"invalid pattern of the CLI's own lines", func(s *spec) { s.Text.Own = "(" }, "text.own", "not a regular expression"},

	{"exit code 0", func(s *spec) { s.ExitCodes[0] = call.ReasonExit }, "exit_codes", "must be 1 to 255"},
	{"exit code 256", func(s *spec) { s.ExitCodes[256] = call.ReasonExit }, "exit_codes", "must be 1 to 255"},
	{"unknown reason of an exit code", func(s *spec) { s.ExitCodes[41] = "login" }, "exit_codes[41]", "is not a reason"},
	{"unknown reason of a hint", func(s *spec) { s.Hints["login"] = "x" }, "hints", "is not a reason"},
}

func TestMalformedRules(t *testing.T) {
	requireMistakes(t, malformedRules)
	require.Greater(t, len(malformedTables)+len(malformedRules), 45)
}

// Validate reports the errors of a spec in the same order each time, although a spec contains maps.
func TestValidateErrorOrder(t *testing.T) {
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
