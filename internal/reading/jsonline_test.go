package reading

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/norace"
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
		{"as deep as allowed", nested(jsontext.MaxDepth), true},
		{"too deep", nested(jsontext.MaxDepth + 1), false},
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
		{"colors around", "\x1b[32m{\"a\":1}\x1b[0m", true},
		{"colors inside", "{\"a\":\x1b[1m\"b\x1b[0m\"}", true},
		{"colors, blanks and a byte order mark", "\x1b[0m\ufeff {\"a\":1}\x1b[K \r", true},
		{"a window's title before", "\x1b]0;title\x07{\"a\":1}", true},
		{"colors around what is cut short", "\x1b[32m{\"a\":1\x1b[0m", false},
		{"no escape sequence", "{\"a\":\"\x1b\"}", false},
		{"another raw control character", "{\"a\":\"\x01\"}", false},
		{"comma too many", `{"a":1,}`, false},
		{"NaN", `{"a":NaN}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, ok := jsontext.ParseObject([]byte(test.line))
			require.Equal(t, test.ok, ok)
		})
	}
}

// Two million brackets must cause an error, not a stack of two million frames.
func TestBracketBomb(t *testing.T) {
	depth := norace.Times(2_000_000, 200_000)
	bomber := readerSpec()
	bomber.Outputs = []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON}
	for name, bomb := range map[string]string{
		"objects": `{"type":"result","x":` + strings.Repeat(`{"a":`, depth), "arrays": `{"type":"result","x":` + strings.Repeat("[", depth),
		"closed": `{"type":"result","x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}", "bare": strings.Repeat("[", depth),
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := jsontext.ParseObject([]byte(bomb))
			require.False(t, ok)
			require.Empty(t, DocumentObjects(bomb))
			if name != "closed" {
				return
			}
			for _, output := range []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON} {
				text, _, failure, _ := Replay(bomber, Recording{Output: output, Stdout: bomb + "\n"})
				require.Empty(t, text)
				require.ErrorIs(t, failure, call.ErrBadOutput)
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
		{"text after", "{\"a\":1}\nbye", []string{`{"a":1}`}},
		{"text after on its line", "{\"a\":1} bye", []string{`{"a":1}`}},
		{"colors", "\x1b[33mwarning\x1b[0m\n\x1b[32m{\"a\":\x1b[1m1}\x1b[0m\n", []string{`{"a":1}`}},
		{"documents on one line", `{"a":1}{"b":2} [{"c":3}]`, []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		{"documents with text between", "{\"a\":1}\nbye\nhello {x}\n[\n{\"b\":2}\n]\n[WARN] odd\n{\"c\":3}\nbye", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		{"a log's time before", "[12:00:01] loading\n[2026-11-20 14:22] {\"x\":1}\n{\"a\":1}", []string{`{"a":1}`}},
		{"a broken document before", "{\n\"a\": oops,\n\"b\":\n{\"c\":1}\n}\n{\"d\":4}", []string{`{"d":4}`}},
		{"a broken document after", "{\"a\":1}\n{\"b\": oops,\n\"list\": [\n{\"c\":1}\n]}", []string{`{"a":1}`}},
		{"an unclosed document", "[\n{\"a\":1},\n{\"b\":2},\n{\"c\":", nil},
		{"an unclosed document after", "{\"z\":0}\n{\"list\":[\n  {\"a\":1},\n  {\"b\":2}\n", []string{`{"z":0}`}},
		{"a document cut in a string", "{\n\"a\": \"\n{\\\"type\\\":1}\n", nil},
		{"too deep", strings.Repeat("[\n", jsontext.MaxDepth+1) + `{"a":1}` + strings.Repeat("\n]", jsontext.MaxDepth+1), nil},
		{"cut short", `{"a":1`, nil},
		{"array cut short", `[{"a":1},`, nil},
		{"scalar", `7`, nil},
		{"empty array", `[]`, nil},
		{"empty", "", nil},
		{"very many brackets", strings.Repeat("{\n", 100) + `{"a":1}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, DocumentObjects(test.text))
		})
	}
}

// A text full of brackets that begin no document needs only a limited number of attempts.
func TestManyBrokenDocuments(t *testing.T) {
	text := strings.Repeat("[x\n", 2_000_000)
	start := time.Now()
	require.Empty(t, DocumentObjects(text+`{"a":1}`))
	require.Less(t, time.Since(start), time.Minute)
	documents := DocumentObjects(strings.Repeat("{\"a\":1}\nand so on\n", 10_000))
	require.Len(t, documents, 10_000, "every document is found")
}
