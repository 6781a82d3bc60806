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
		want             string // empty: the format is unknown
	}{
		{"empty input", "", "", JSONL},
		{"JSON lines", "x.txt", `{"prompt":"hi"}` + "\n", JSONL},
		{"incomplete JSON line", "", `{"prompt":` + "\n", JSONL},
		{"file name extension", "x.jsonl", "hi\n", JSONL},
		{"OpenAI request", "x.jsonl", `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{}}`, OpenAI},
		{"array", "x.json", "\n [\n{", JSON},
		{"array of prompts", "", `["a", "b"]`, JSON},
		{"empty array", "", `[]`, JSON},
		{"indented objects", "", "{\n  \"prompt\": \"hi\"\n}\n", JSON},
		{"table", "", "id,prompt\n1,hi\n", CSV},
		{"table from a spreadsheet", "", "\ufeffID;Prompt\r\n1;hi\r\n", CSV},
		{"quoted column names", "", `"id","prompt"` + "\n", CSV},
		{"one column", "", "Prompt\nhi\n", CSV},
		{"tab-separated table", "", "prompt\tlabel\nhi\tx\n", TSV},
		{"table without a prompt column", "x.csv", "question,answer\n", CSV},
		{"table without a prompt column or file name", "", "question,answer\n", ""},
		{"tab-separated table without a prompt column", "", "a\tb\n", ""},
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

// Detecting the format of a stream reads only its first line.
func TestFirstLineReadsNoFurther(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go func() { _, _ = io.WriteString(w, "\n{\"prompt\":\"hi\"}\n") }()
	line, err := firstLine(bufio.NewReaderSize(r, headBytes))
	require.NoError(t, err)
	require.Equal(t, `{"prompt":"hi"}`, string(line))
}
