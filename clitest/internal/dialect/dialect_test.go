package dialect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest/internal/dialect"
	"github.com/clichain/clichain/specs"
)

// For every built-in spec and output mode, the dialect writes an answer that is read as that answer, failures with
// their reason, and a limit with its end.
func TestDialectsOfBuiltInSpecs(t *testing.T) {
	for _, spec := range specs.Every() {
		for _, output := range spec.OutputModes() {
			t.Run(spec.Name+"/"+string(output), func(t *testing.T) {
				d := dialect.New(&spec, output)
				for _, text := range []string{"42", "y", "two\nlines with \"quotes\" <and> {braces} 中文 😀"} {
					s, err := d.Answer(text)
					require.NoError(t, err)
					require.Equal(t, text, d.Judge(s).Text)
				}
				for reason, message := range map[call.Reason]string{
					call.ReasonUnauthenticated: "Not logged in. Please log in.", call.ReasonOverloaded: "API Error: 529 Overloaded",
					call.ReasonRateLimited: "429 Too Many Requests",
				} {
					s, err := d.Failure(reason, message)
					require.NoError(t, err)
					require.Equal(t, reason, d.Judge(s).Failure.Reason)
				}
				end := time.Now().Add(3 * time.Hour)
				s, err := d.Limit(end)
				require.NoError(t, err)
				require.WithinDuration(t, end, d.Judge(s).Failure.RetryAfter, time.Minute)
			})
		}
	}
}

func TestSample(t *testing.T) {
	for pattern, want := range map[string]string{
		"": "", "result": "result", "thread.started": "thread.started", "(false)?": "false", ".+": "x", "(?s).+": "x", "a|b": "a",
		`[0-9a-f]{3}(-[A-Z]+){2}`: "aaa-A-A", `\d+`: "0", "error.*": "error", `(?i)mine-\w+`: "MINE-a", `^x$`: "x", `[^a]`: "0",
	} {
		got, ok := dialect.Sample(pattern)
		require.True(t, ok, pattern)
		require.Equal(t, strings.ToLower(want), strings.ToLower(got), pattern)
	}
	for _, pattern := range []string{"(", `a\bb`, `x^`} {
		_, ok := dialect.Sample(pattern)
		require.False(t, ok, pattern)
	}
}

// The dialect does not write values at paths that it cannot construct, and uses another rule if there is one.
func TestOddRules(t *testing.T) {
	match := func(pairs ...string) map[string]string { return map[string]string{pairs[0]: pairs[1]} }
	end := clispec.EventRule{Match: match("type", "end"), Kind: call.EventResult, Terminal: true, Set: match("text", "out.0.text")}
	for name, test := range map[string]struct {
		rules []clispec.EventRule
		ok    bool
	}{
		"the text of the result":       {[]clispec.EventRule{end}, true},
		"text in a modifier":           {[]clispec.EventRule{{Match: match("type", "end"), Kind: call.EventResult, Terminal: true, Set: match("text", "a|@keys|0")}}, false},
		"text of the last element":     {[]clispec.EventRule{{Match: match("type", "end"), Kind: call.EventResult, Terminal: true, Set: match("text", "all|@reverse|0.text")}}, true},
		"text in a list":               {[]clispec.EventRule{{Match: match("@.kind", "text"), Each: "a.list", Kind: call.EventText, Set: match("text", "@.text")}, {Match: match("type", "end"), Kind: call.EventResult, Terminal: true}}, true},
		"no text anywhere":             {[]clispec.EventRule{{Match: match("type", "end"), Kind: call.EventResult, Terminal: true}}, false},
		"no end":                       {[]clispec.EventRule{{Match: match("type", "text"), Kind: call.EventText, Set: match("text", "text")}}, false},
		"rule that matches everything": {[]clispec.EventRule{{Match: match("type", ".*"), Kind: call.EventStatus, Last: true}, end}, false},
		"second alternative":           {[]clispec.EventRule{{Match: match("type", "end"), Kind: call.EventResult, Terminal: true, Set: match("text", "a|@keys|0 ?? b")}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			spec := clispec.Spec{Name: "odd", Binary: "odd", Outputs: []clispec.OutputMode{clispec.OutputStream}, Events: test.rules}
			s, err := dialect.New(&spec, clispec.OutputStream).Answer("42")
			require.Equal(t, test.ok, err == nil, "%v %v", s, err)
		})
	}
}

// The status command prints the text that the spec looks for.
func TestStatus(t *testing.T) {
	spec := clispec.Spec{Login: clispec.LoginRules{Status: clispec.StatusRule{Signs: []clispec.StatusSign{
		{JSON: map[string]string{"user.in": "true"}, Login: clispec.LoginAuthenticated},
		{Exit: 3, Pattern: "no login|nobody", Login: clispec.LoginInstalled},
		{Pattern: `a\bb`, Login: clispec.LoginUnknown},
	}}}}
	d := dialect.New(&spec, clispec.OutputText)
	for state, want := range map[clispec.LoginState]dialect.Script{
		clispec.LoginAuthenticated: {Lines: []string{`{"user":{"in":true}}`}},
		clispec.LoginInstalled:     {Lines: []string{"no login"}, Exit: 3},
	} {
		got, ok := d.Status(state)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	for _, state := range []clispec.LoginState{clispec.LoginUnknown, clispec.LoginNotFound} {
		_, ok := d.Status(state)
		require.False(t, ok, "the spec has no text for the state")
	}
}
