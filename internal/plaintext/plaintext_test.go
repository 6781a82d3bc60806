package plaintext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStripFence(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no fence", `{"a":1}`, `{"a":1}`},
		{"no fence, white space kept", " a \n", " a \n"},
		{"language tag", "```json\n{\"a\":1}\n```", `{"a":1}`},
		{"no tag", "```\n{\"a\":1}\n```", `{"a":1}`},
		{"blanks around", "\n  ```json\n{\"a\":1}\n```  \n", `{"a":1}`},
		{"CRLF", "```json\r\n{\"a\":1}\r\n```\r\n", `{"a":1}`},
		{"several lines", "```go\na\n\n\tb\n```", "a\n\n\tb"},
		{"only opening", "```json\n{\"a\":1}", `{"a":1}`},
		{"only closing", "{\"a\":1}\n```", "{\"a\":1}\n```"},
		{"several fences", "```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"},
		{"several fences, the last one open", "```\na\n```\n```\nb", "```\na\n```\n```\nb"},
		{"words before", "Here:\n```\na\n```", "Here:\n```\na\n```"},
		{"words after", "```\na\n```\nThere.", "```\na\n```\nThere."},
		{"one line with a tag", "```json {\"a\":1} ```", `{"a":1}`},
		{"one line without a tag", "```{\"a\":1}```", `{"a":1}`},
		{"one line with a space in the value", "```{\"a\": 1}```", `{"a": 1}`},
		{"one line with an array", "``` [1, 2] ```", "[1, 2]"},
		{"one line with text", "```hello world```", "```hello world```"},
		{"one line without JSON", "```\"a\" : 1```", "```\"a\" : 1```"},
		{"one line, never closed", "```hello world", "```hello world"},
		{"info string", "```json title=\"a b\" {1,3}\n{\"a\":1}\n```", `{"a":1}`},
		{"info string before text", "```go title=x.go\na b\n```", "a b"},
		{"value on the line of the fence", "```{\"a\":\n1}\n```", "{\"a\":\n1}"},
		{"tag and value on the line of the fence", "```json {\"a\":\n1}\n```", "{\"a\":\n1}"},
		{"empty fence", "```json\n```", ""},
		{"long fence", "````json\n{\"a\":1}\n````", `{"a":1}`},
		{"fence inside a longer fence", "````md\n```\na\n```\n````", "````md\n```\na\n```\n````"},
		{"inline code", "`a`", "`a`"},
		{"empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, StripFence(test.text))
		})
	}
}
