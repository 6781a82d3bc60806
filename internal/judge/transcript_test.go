package judge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
)

// The CLI's own text is before the prompt and at the end, in whole lines that the rule matches.
func TestOwnText(t *testing.T) {
	end := "error: " + strings.Repeat("b", 193)
	for name, test := range map[string]struct{ stderr, prompt, want string }{
		"no prompt":              {"lumen 1.0\nerror: oops\n", "say hi", "lumen 1.0\nerror: oops"},
		"line with more words":   {"the user said\nhi\n", "say hi", "the user said\nhi"},
		"own lines at the end":   {"lumen 1.0\nuser\nsay hi\nhi there\nerror: oops\n", "say hi", "lumen 1.0\nerror: oops"},
		"carriage returns":       {"lumen 1.0\r\nuser\r\nsay hi\r\nhi there\r\nerror: oops\r\n", "say hi", "lumen 1.0\r\nerror: oops"},
		"blank line":             {"user\nsay hi\nhi there\nerror: oops\n\nerror: 2\n", "say hi", "error: oops\n\nerror: 2"},
		"own line before text":   {"user\nsay hi\nerror: oops\nhi there\n", "say hi", ""},
		"part of a line":         {"user\nsay hi\nan error: oops\n", "say hi", ""},
		"own line in the prompt": {"user\nerror: oops\n", "error: oops", ""},
		"own lines around it":    {"user\nerror: 1\nerror: 2\nerror: oops\n", "error: 1\nerror: 2", "error: oops"},
		"prompt in white space":  {"user\n\nsay hi\nerror: oops\n", " say hi\n", "error: oops"},
		"another prompt":         {"user\nsay ho\nerror: oops\n", "say hi", "error: oops"},
		"empty prompt":           {"user\nhi there\nerror: oops\n", "", "error: oops"},
		"prompt after a line":    {"user\nx\nerror: the end\nerror: oops\n", "error: the end", "error: oops"},
		"end of a long prompt":   {"user\nerror: 1 [...]" + end + "\nerror: oops\n", "error: 1" + strings.Repeat("a", 300) + end, "error: oops"},
		"only its end":           {"user\n" + end + "\nerror: oops\n", strings.Repeat("a", 300) + end, "error: oops"},
	} {
		t.Run(name, func(t *testing.T) {
			transcript := NewTranscript(clispec.TextRule{Prompt: "user", Own: "error: .*"})
			require.Equal(t, test.want, strings.TrimSpace(transcript.Own(test.stderr, test.prompt)))
		})
	}
	require.Equal(t, "user\nhi\n", NewTranscript(clispec.TextRule{}).Own("user\nhi\n", "hi"), "a spec without the rule")
}

// A transcript begins at the whole line of the rule.
func TestTranscriptBegins(t *testing.T) {
	transcript := NewTranscript(clispec.TextRule{Prompt: "user|human"})
	for line, want := range map[string]bool{"user": true, "human": true, "human\r": true, "users": false, "a human": false} {
		require.Equal(t, want, transcript.Begins(line), line)
	}
	require.False(t, NewTranscript(clispec.TextRule{}).Begins(""))
}
