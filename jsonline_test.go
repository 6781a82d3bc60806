package clichain_test

import (
	"strings"
	"testing"

	"github.com/clichain/clichain"
	"github.com/stretchr/testify/require"
)

func TestParseObject(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) }
	for _, test := range []struct {
		name, line string
		ok         bool
	}{
		{"object", `{"a":1}`, true},
		{"blanks around", " \t{\"a\":1} \r", true},
		{"byte order mark", "\ufeff{\"a\":1}", true},
		{"empty object", `{}`, true},
		{"brackets in a string", `{"a":"}{][\"{"}`, true},
		{"as deep as allowed", nested(clichain.MaxDepth), true},
		{"too deep", nested(clichain.MaxDepth + 1), false},
		{"empty", "", false},
		{"cut short", `{"type":"result","result":"42"`, false},
		{"cut in a string", `{"type":"result","result":"4`, false},
		{"cut in an escape", `{"type":"result","result":"4\`, false},
		{"two objects", `{"a":1}{"a":2}`, false},
		{"two objects with a blank", `{"a":1} {"a":2}`, false},
		{"array", `[{"a":1}]`, false},
		{"string", `"a"`, false},
		{"null", `null`, false},
		{"banner before", `warning: {"a":1}`, false},
		{"text after", `{"a":1} done`, false},
		{"colours around", "\x1b[32m{\"a\":1}\x1b[0m", false},
		{"raw control character in a string", "{\"a\":\"\x1b[0m\"}", false},
		{"comma too many", `{"a":1,}`, false},
		{"NaN", `{"a":NaN}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, ok := clichain.ParseObject(test.line)
			require.Equal(t, test.ok, ok)
		})
	}
}

// Two million brackets must be an error, not a stack of two million frames.
func TestBracketBomb(t *testing.T) {
	const depth = 2_000_000
	bomber := readerSpec()
	bomber.Outputs = []clichain.OutputMode{clichain.OutputStream, clichain.OutputJSON}
	for name, bomb := range map[string]string{
		"objects": `{"type":"result","x":` + strings.Repeat(`{"a":`, depth), "arrays": `{"type":"result","x":` + strings.Repeat("[", depth),
		"closed": `{"type":"result","x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}", "bare": strings.Repeat("[", depth),
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := clichain.ParseObject(bomb)
			require.False(t, ok)
			require.Empty(t, clichain.DocumentObjects(bomb))
			if name != "closed" {
				return
			}
			for _, output := range []clichain.OutputMode{clichain.OutputStream, clichain.OutputJSON} {
				text, _, failure, _ := clichain.Replay(bomber, clichain.Recording{Output: output, Stdout: bomb + "\n"})
				require.Empty(t, text)
				require.ErrorIs(t, failure, clichain.ErrBadOutput)
			}
		})
	}
}

func TestDocument(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"one object", `{"a":1}`, []string{`{"a":1}`}},
		{"over several lines", "{\n  \"a\": 1\n}\n", []string{`{"a":1}`}},
		{"array of events", `[{"a":1},{"b":2}]`, []string{`{"a":1}`, `{"b":2}`}},
		{"array with other things", `[1,{"a":1},"x",null,[{"b":2}]]`, []string{`{"a":1}`}},
		{"banner before", "Welcome!\nhint: {nothing}\n{\"a\":1}", []string{`{"a":1}`}},
		{"banner with brackets", "[WARN] old\n{odd\n[x]\n{\"a\":1}", []string{`{"a":1}`}},
		{"byte order mark", "\ufeff{\"a\":1}", []string{`{"a":1}`}},
		{"CRLF", "warning\r\n{\r\n\"a\":1\r\n}\r\n", []string{`{"a":1}`}},
		{"a document in the middle of a line", `result: {"a":1}`, nil},
		{"text after", "{\"a\":1}\nbye", nil},
		{"cut short", `{"a":1`, nil},
		{"array cut short", `[{"a":1},`, nil},
		{"scalar", `7`, nil},
		{"empty array", `[]`, nil},
		{"empty", "", nil},
		{"more brackets than anyone prints", strings.Repeat("{\n", 100) + `{"a":1}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, clichain.DocumentObjects(test.text))
		})
	}
}
