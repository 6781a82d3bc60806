package input

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestGuess(t *testing.T) {
	for _, test := range []struct {
		name, file, text string
		want             string // empty: it cannot be told
	}{
		{"nothing", "", "", JSONL},
		{"lines of JSON", "x.txt", `{"prompt":"hi"}` + "\n", JSONL},
		{"a broken line", "", `{"prompt":` + "\n", JSONL},
		{"by its name", "x.jsonl", "hi\n", JSONL},
		{"a request of OpenAI", "x.jsonl", `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{}}`, OpenAI},
		{"an array", "x.json", "\n [\n{", JSON},
		{"an array of prompts", "", `["a", "b"]`, JSON},
		{"an empty array", "", `[]`, JSON},
		{"pretty objects", "", "{\n  \"prompt\": \"hi\"\n}\n", JSON},
		{"a table", "", "id,prompt\n1,hi\n", CSV},
		{"a table from a spreadsheet", "", "\ufeffID;Prompt\r\n1;hi\r\n", CSV},
		{"quoted names", "", `"id","prompt"` + "\n", CSV},
		{"one column", "", "Prompt\nhi\n", CSV},
		{"tabs", "", "prompt\tlabel\nhi\tx\n", TSV},
		{"a table without prompts", "x.csv", "question,answer\n", CSV},
		{"a table without prompts and name", "", "question,answer\n", ""},
		{"tabs without prompts", "", "a\tb\n", ""},
		{"binary", "x.csv", "PK\x03\x04\x00\x00", ""},
		{"UTF-16", "x.txt", "\xff\xfeh\x00i\x00", ""},
		{"prose", "", "Name three uses of a paper clip.\n", Text},
		{"prose with a number", "", "Translate 1,000 to French\n", Text},
		{"prose with commas", "", "Hello, world\n", Text},
		{"prose in brackets", "x.txt", "[INST] hi [/INST]\n", Text},
		{"prose in braces", "x.txt", "{name}, hi\n", Text},
		{"prose in a text file", "x.txt", "red,green\n", Text},
	} {
		t.Run(test.name, func(t *testing.T) {
			line, err := firstLine(bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(test.text)), headBytes))
			require.NoError(t, err)
			got, err := guess(test.file, line)
			require.Equal(t, test.want, got)
			require.Equal(t, test.want == "", err != nil)
		})
	}
}

// A stream is not read beyond its first line to tell its format.
func TestFirstLineWaitsForNoMore(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go func() { _, _ = io.WriteString(w, "\n{\"prompt\":\"hi\"}\n") }()
	line, err := firstLine(bufio.NewReaderSize(r, headBytes))
	require.NoError(t, err)
	require.Equal(t, `{"prompt":"hi"}`, string(line))
}
