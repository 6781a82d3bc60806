package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// The order of the rules decides. A rule applies to its kind and its sources, and a rule without them to errors of every
// source.
func TestFindRule(t *testing.T) {
	const exit, billing = call.ReasonExit, call.ReasonBilling
	onStderr := []clispec.Evidence{clispec.OnStderr}
	for name, test := range map[string]struct {
		rules []clispec.LineRule
		kind  call.EventKind
		on    clispec.Evidence
		text  string
		want  call.Reason
		ok    bool
	}{
		"no rule":        {nil, call.EventError, clispec.OnEvent, "oops", "", false},
		"other text":     {[]clispec.LineRule{{Pattern: "oops", Reason: exit}}, call.EventError, clispec.OnEvent, "fine", "", false},
		"no literals":    {[]clispec.LineRule{{Pattern: `\d`, Reason: exit}}, call.EventError, clispec.OnEvent, "7", exit, true},
		"first rule":     {[]clispec.LineRule{{Pattern: "b", Reason: billing}, {Pattern: "a", Reason: exit}}, call.EventError, clispec.OnEvent, "a b", billing, true},
		"every source":   {[]clispec.LineRule{{Pattern: "oops", Reason: exit}}, call.EventError, clispec.OnStdout, "oops", exit, true},
		"named source":   {[]clispec.LineRule{{Pattern: "oops", Reason: exit, On: onStderr}}, call.EventError, clispec.OnStderr, "oops", exit, true},
		"other source":   {[]clispec.LineRule{{Pattern: "oops", Reason: exit, On: onStderr}}, call.EventError, clispec.OnEvent, "oops", "", false},
		"named kind":     {[]clispec.LineRule{{Pattern: "oops", Reason: exit, Kind: call.EventRetry}}, call.EventRetry, clispec.OnEvent, "oops", exit, true},
		"other kind":     {[]clispec.LineRule{{Pattern: "oops", Reason: exit}}, call.EventRetry, clispec.OnEvent, "oops", "", false},
		"no reason":      {[]clispec.LineRule{{Pattern: "oops"}}, call.EventError, clispec.OnEvent, "oops", "", false},
		"warning":        {[]clispec.LineRule{{Pattern: "oops", Kind: call.EventWarning}}, call.EventWarning, clispec.OnEvent, "oops", "", true},
		"reason is next": {[]clispec.LineRule{{Pattern: "oops", Kind: call.EventRetry}, {Pattern: "o", Kind: call.EventRetry, Reason: exit}}, call.EventRetry, clispec.OnEvent, "oops", exit, true},
		"end of a text":  {[]clispec.LineRule{{Pattern: "oops", Reason: exit}}, call.EventError, clispec.OnEvent, strings.Repeat("x", MaxEvidence) + "oops", exit, true},
		"start of a long text": {
			[]clispec.LineRule{{Pattern: "oops", Reason: exit}}, call.EventError, clispec.OnEvent, "oops" + strings.Repeat("x", MaxEvidence), "", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, ok := CompileLines(test.rules).Find(test.kind, test.on, test.text, noon)
			require.Equal(t, test.ok, ok)
			require.Equal(t, test.want, f.Reason)
		})
	}
	require.Equal(t, 32<<10, MaxEvidence)
}

// Of several matching rules without a reason, the first is the finding.
func TestFindFirstWarning(t *testing.T) {
	rules := []clispec.LineRule{{Pattern: "oops", Kind: call.EventWarning, Hint: "1"}, {Pattern: "oops", Kind: call.EventWarning, Hint: "2"}}
	f, ok := CompileLines(rules).Find(call.EventWarning, clispec.OnStderr, "oops", noon)
	require.True(t, ok)
	require.Equal(t, "1", f.Hint)
}

// The named groups of a rule fill the finding.
func TestFindingOfMatch(t *testing.T) {
	const exit = call.ReasonExit
	in := func(d time.Duration) time.Time { return noon.Add(d) }
	pass := []call.Advice{{Action: call.ActionPass, Field: "config.pass_env", Value: "LUMEN_KEY"}}
	for name, test := range map[string]struct {
		rule clispec.LineRule
		text string
		want Finding
	}{
		"line of the match":         {clispec.LineRule{Pattern: "oops", Reason: exit}, "a\nb oops c\nd", Finding{Reason: exit, Message: "b oops c"}},
		"first line":                {clispec.LineRule{Pattern: "oops", Reason: exit}, "oops c\nd", Finding{Reason: exit, Message: "oops c"}},
		"end of a line":             {clispec.LineRule{Pattern: "oops", Reason: exit}, "b oops\nd", Finding{Reason: exit, Message: "b oops"}},
		"last line":                 {clispec.LineRule{Pattern: "oops", Reason: exit}, "a\noops c", Finding{Reason: exit, Message: "oops c"}},
		"message":                   {clispec.LineRule{Pattern: "oops: (?P<message>.*)", Reason: exit}, "oops: no room", Finding{Reason: exit, Message: "no room"}},
		"message at the start":      {clispec.LineRule{Pattern: "(?P<message>.*): oops", Reason: exit}, "no room: oops", Finding{Reason: exit, Message: "no room"}},
		"status":                    {clispec.LineRule{Pattern: `oops (?P<status>\d+)`}, "oops 503", Finding{Reason: call.ReasonOverloaded, Status: 503, Message: "oops 503"}},
		"status beside a reason":    {clispec.LineRule{Pattern: `oops (?P<status>\d+)`, Reason: exit}, "oops 503", Finding{Reason: exit, Status: 503, Message: "oops 503"}},
		"attempt in a second group": {clispec.LineRule{Pattern: `(oops) (?P<attempt>\d+)`, Reason: exit}, "oops 12", Finding{Reason: exit, Try: 12, Message: "oops 12"}},
		"group without a match":     {clispec.LineRule{Pattern: `(oops)(?P<status> \d+)?`, Reason: exit}, "oops", Finding{Reason: exit, Message: "oops"}},
		"session":                   {clispec.LineRule{Pattern: `in (?P<session>\w+)`, Reason: exit}, "in s1", Finding{Reason: exit, Session: "s1", Message: "in s1"}},
		"fatal":                     {clispec.LineRule{Pattern: "oops", Reason: exit, Fatal: true}, "oops", Finding{Reason: exit, Fatal: true, Message: "oops"}},
		"hint with a group":         {clispec.LineRule{Pattern: `no (?P<variable>\w+)`, Reason: exit, Hint: "set {variable}"}, "no LUMEN_KEY", Finding{Reason: exit, Hint: "set LUMEN_KEY", Message: "no LUMEN_KEY"}},
		"variable":                  {clispec.LineRule{Pattern: `no (?P<variable>\w+)`, Reason: exit}, "no LUMEN_KEY", Finding{Reason: exit, Advice: pass, Message: "no LUMEN_KEY"}},
		"reset":                     {clispec.LineRule{Pattern: `until (?P<reset>.*)`, Reason: exit}, "until in 2 hours", Finding{Reason: exit, RetryAfter: in(2 * time.Hour), Message: "until in 2 hours"}},
		"delay":                     {clispec.LineRule{Pattern: `wait (?P<delay>.*)`, Reason: exit}, "wait 30s", Finding{Reason: exit, RetryAfter: in(30 * time.Second), Message: "wait 30s"}},
		"cooldown":                  {clispec.LineRule{Pattern: "oops", Reason: exit, CooldownS: 90}, "oops", Finding{Reason: exit, RetryAfter: in(90 * time.Second), Message: "oops"}},
		"time before cooldown":      {clispec.LineRule{Pattern: `wait (?P<delay>.*)`, Reason: exit, CooldownS: 90}, "wait 30s", Finding{Reason: exit, RetryAfter: in(30 * time.Second), Message: "wait 30s"}},
		"reason of the message": {
			clispec.LineRule{Pattern: "oops: (?P<message>.*)"}, "oops: not logged in",
			Finding{Reason: call.ReasonUnauthenticated, Message: "not logged in"},
		},
		"reason of the rule, not of the message": {
			clispec.LineRule{Pattern: "oops: (?P<message>.*)", Reason: exit}, "oops: rate limit, retry in 2 hours",
			Finding{Reason: exit, Message: "rate limit, retry in 2 hours"},
		},
		"time in the message": {
			clispec.LineRule{Pattern: "oops: (?P<message>.*)"}, "oops: rate limit, retry in 2 hours",
			Finding{Reason: call.ReasonRateLimited, RetryAfter: in(2 * time.Hour), Message: "rate limit, retry in 2 hours"},
		},
		"time below the message": {
			clispec.LineRule{Pattern: "oops: (?P<message>.*)"}, "oops: rate limit\nretry in 2 hours",
			Finding{Reason: call.ReasonRateLimited, RetryAfter: in(2 * time.Hour), Message: "rate limit"},
		},
		"time of another failure below": {
			clispec.LineRule{Pattern: "oops: (?P<message>.*)"}, "oops: not logged in\nrate limit, retry in 2 hours",
			Finding{Reason: call.ReasonUnauthenticated, Message: "not logged in"},
		},
		"time above the message": {
			clispec.LineRule{Pattern: "oops: (?P<message>.*)"}, "retry in 2 hours: rate limit\noops: rate limit",
			Finding{Reason: call.ReasonRateLimited, Message: "rate limit"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rule := compileOne(test.rule)
			require.Equal(t, test.want, rule.read(test.text, rule.re.FindStringSubmatchIndex(test.text), noon))
		})
	}
}

func compileOne(rule clispec.LineRule) *compiledLine {
	return &CompileLines([]clispec.LineRule{rule})[0]
}

// Retries and the indented lines below them do not explain the end of a run that recovered. Status lines never do.
func TestRelevantStderr(t *testing.T) {
	rules := CompileLines([]clispec.LineRule{
		{Pattern: "^retry", Kind: call.EventRetry}, {Pattern: "^busy", Kind: call.EventStatus}, {Pattern: "oops"},
	})
	const stderr = "oops 1\nretry\n  at a\n  at b\noops 2\n  oops 3\nbusy\nretry again\n  at c\nend"
	require.Equal(t, "oops 1\noops 2\n  oops 3\nend", rules.relevant(stderr, true))
	require.Equal(t, strings.Replace(stderr, "busy\n", "", 1), rules.relevant(stderr, false))
	require.Equal(t, "end", rules.afterRetries(stderr))
	require.Equal(t, "oops 2\n  oops 3\n", rules.afterRetries("oops 1\nretry\n  at a\noops 2\n  oops 3\nbusy\n"))
	require.Equal(t, "oops\n", rules.afterRetries("oops\nbusy\n"), "no retry")
}
