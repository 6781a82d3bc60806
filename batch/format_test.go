package batch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/batch/internal/input"
	"github.com/clichain/clichain/permit"
)

// fromFile returns a batch whose input is a file.
func fromFile(t *testing.T, name, text string) *Config {
	t.Helper()
	cfg := batchOf(t, "")
	cfg.In = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(cfg.In, []byte(text), 0o600))
	return cfg
}

func TestRunReadsEachFormat(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, text string
		format           Format
		want             map[string]string // answers by id, or by prompt for lines without an id
	}{
		{"CSV", "in.csv", "id,prompt,label\n7,\"one, \"\"two\"\"\nthree\",x\n,four,\n,,\n", CSV, map[string]string{"7": "one, \"two\"\nthree", "four": "four"}},
		{"semicolons", "in", "\ufeffId;Prompt\r\na;eins\r\n", CSV, map[string]string{"a": "eins"}},
		{"TSV", "in.tsv", "prompt\tid\none, two\t1\n", TSV, map[string]string{"1": "one, two"}},
		{"JSON array", "in.json", `[{"id":1,"prompt":"one"},` + "\n" + `"two"]`, JSON, map[string]string{"1": "one", "two": "two"}},
		{"pretty JSON", "in.json", "{\n\"id\": \"a\",\n\"prompt\": \"one\"\n}\n{\n\"prompt\": \"two\"\n}", JSON, map[string]string{"a": "one", "two": "two"}},
		{"text", "in.txt", "one\n\ntwo\r\n", Text, map[string]string{"one": "one", "two": "two"}},
		{"OpenAI", "in.jsonl", openAI("r-1", `{"messages":[{"role":"user","content":"one"}],"max_tokens":5}`), OpenAI, map[string]string{"r-1": "one"}},
		{"OpenAI in an array", "in.json", "[" + openAI("r-1", `{"messages":[{"role":"user","content":"one"}]}`) + "]", JSON, map[string]string{"r-1": "one"}},
		{"numeric ids", "in.jsonl", `{"id":7,"prompt":"one"}` + "\n" + `{"id":"8","prompt":"two"}`, JSONL, map[string]string{"7": "one", "8": "two"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := fromFile(t, test.file, test.text)
			piped := fromFile(t, test.file, "")
			piped.In, piped.Stdin = disk.Stream, strings.NewReader(test.text)
			if test.file == "in.txt" || test.file == "in.csv" {
				piped.Format = test.format
			}
			for _, cfg := range []*Config{file, piped} {
				s, err := Run(t.Context(), cfg)
				require.NoError(t, err)
				require.Equal(t, test.format, s.Format)
				require.Equal(t, len(test.want), s.Total, "rows are counted, not lines")
				require.Zero(t, s.Bad)
				got := map[string]string{}
				for id, text := range texts(t, cfg.Out) {
					if test.want[id] == "" {
						id = text
					}
					got[id] = text
				}
				require.Equal(t, test.want, got)
			}
		})
	}
}

func openAI(id, body string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":%s}`+"\n", id, body)
}

// Values that are not part of a request are returned in the metadata of the response.
func TestRunReturnsExtraFieldsAsMetadata(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]*Config{
		"CSV":  fromFile(t, "in.csv", "id,prompt,label,metadata,Note\na,hi,x,\"{\"\"k\"\":\"\"v\"\"}\",\n"),
		"JSON": fromFile(t, "in.jsonl", `{"id":"a","prompt":"hi","label":"x","metadata":{"k":"v"},"other":null}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), cfg)
			require.NoError(t, err)
			require.Contains(t, string(mustRead(t, cfg.Out)), `"metadata":{"k":"v","label":"x"}`)
		})
	}
}

// A file in the wrong format is rejected before a job runs.
func TestRunRejectsUnreadableFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, text, want string
	}{
		{"no prompt column", "x.csv", "question,answer\na,b\n", `cannot be read as csv: line 1: no column is named "prompt": the columns are ["question" "answer"]`},
		{"duplicate column", "x.csv", "prompt,Prompt\na,b\n", `two columns are named "prompt"`},
		{"misspelled column", "x.csv", "prompt,modle\na,b\n", "column modle: there is no such field: did you mean model?"},
		{"option as column", "x.csv", "prompt,max_turns\na,b\n", "column max_turns: is an option"},
		{"environment variables as column", "x.csv", "prompt,env\na,b\n", "column env: a line cannot set it"},
		{"missing quotation mark", "x.csv", "prompt\na\n\"b\n", `line 3`},
		{"unescaped quotation mark", "x.csv", "prompt\nsay \"b\"\n", "and double the mark"},
		{"table in Latin-1", "x.csv", "prompt\na\nM\xfcller\n", "line 3: is not valid UTF-8"},
		{"text in Latin-1", "x.txt", "a\nM\xfcller\n", "line 2: is not valid UTF-8"},
		{"incomplete array", "x.json", `["a", "b"`, "line 3: the array does not end"},
		{"data after an array", "x.json", `["a"] x`, "unexpected data follows the array"},
		{"JSON lines without prompts", "x.jsonl", `{"question":"a"}` + "\n" + `{"question":"b"}` + "\n", "cannot be read as jsonl: line 1: has neither prompt nor messages"},
		{"JSON line after prose", "x", "# requests\n" + `{"prompt":"a"}` + "\n", "line 2: looks like JSON"},
		{"unsupported OpenAI endpoint", "x.jsonl", strings.Repeat(`{"custom_id":"a","method":"POST","url":"/v1/embeddings","body":{"input":"x"}}`+"\n", 2), `url: "/v1/embeddings": only`},
		{"binary file", "x.csv", "PK\x03\x04\x00", "is not text"},
		{"ambiguous table or prompts", "x", "a,b\n", "--format text if each line is a prompt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := fromFile(t, test.file, test.text)
			_, err := Run(t.Context(), cfg)
			require.ErrorAs(t, err, new(*Mistake))
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, cfg.In)
			require.NoFileExists(t, cfg.Out)
			require.NoFileExists(t, cfg.Out+".bad.jsonl")
		})
	}
}

// An invalid or forbidden row does not stop the batch.
func TestRunSkipsBadRows(t *testing.T) {
	t.Parallel()
	cfg := fromFile(t, "in.csv", "id,prompt,access,dir,options,idempotent\n"+
		"a,hi,,,,TRUE\nb,hi\nc,hi,full,/,,\nd,hi,,,\"{\"\"extra\"\":{\"\"claude\"\":[\"\"--tools=Bash\"\"]}}\",\ne,hi,,,{,\nf,,,,,\n")
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, []int{1, 5}, []int{s.Answered, s.Bad})
	bad := string(mustRead(t, cfg.Out+".bad.jsonl"))
	for _, want := range []string{
		`{"line":3,"error":"has 2 values, but the header has 6"`, `{"line":4,"error":"access: full is more than none`, `{"line":5,"error":"options.extra.claude[0]`,
		`{"line":6,"error":"options: must be an object, encoded as JSON"`, `{"line":7,"error":"messages: no message has text`,
	} {
		require.Contains(t, bad, want)
	}
}

// A stream that ends too early is an error. The lines before the end are still answered.
func TestRunReportsBrokenStream(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, `["a", `)
	_, err := Run(t.Context(), cfg)
	require.ErrorContains(t, err, "-i -: line 2 cannot be read: is not valid JSON")
}

// The size limit also applies to a record without a closing quotation mark.
func TestRunRejectsLongRecords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 17<<20)
	for name, cfg := range map[string]*Config{"row": fromFile(t, "x.csv", "prompt\n\""+long), "element": fromFile(t, "x.json", `["`+long)} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), cfg)
			require.ErrorContains(t, err, "a record is longer than 16 MiB")
		})
	}
}

// FuzzFormats checks for all formats that no input creates a request beyond the permissions, that readers end, and
// that the same input results in the same ids.
func FuzzFormats(f *testing.F) {
	for i, text := range []string{
		"", "\ufeffprompt,access\nhi,full\n", "id;prompt;env\n1;hi;X\n", "prompt\tdirectory\textra\nhi\t/\t--yolo\n", "hi\nho\n",
		`["a",{"prompt":"b","options":{"extra":{"claude":["--x"]}}}]`, "{\n\"prompt\":\"hi\"}\n{\"prompt\":\"ho\"}", `{"prompt":"hi","access":"write"}`,
		openAI("a", `{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function"}]}`), openAI("a", `{"messages":[{"role":"user","content":"hi"}],"access":"full"}`),
		"prompt,options\nhi,\"{\"\"mcp_config\"\":[\"\"x\"\"]}\"\n", "prompt\n\"a\nb\"\n\"", `[`, `[[`, "a\x00b", "prompt,metadata\nhi,{}\n", `{"id":1e400,"prompt":"x"}`,
	} {
		f.Add([]byte(text), uint8(0))
		f.Add([]byte(text), uint8(1+i%len(Formats)))
	}
	f.Fuzz(func(t *testing.T, text []byte, format uint8) {
		read := func() (ids []string) {
			cfg := &Config{In: disk.Stream, Stdin: bytes.NewReader(text)}
			if n := int(format) % (len(Formats) + 1); n > 0 {
				cfg.Format = Formats[n-1]
			}
			src, err := openSource(cfg)
			require.NoError(t, err)
			if _, err := src.ready(); err != nil {
				return nil
			}
			_ = src.each(t.Context(), newLedger(), func(line input.Line, item *item, reason error) error {
				require.Positive(t, line.Number)
				if reason != nil {
					return nil
				}
				req := item.Job.Request
				require.Zero(t, req.Access)
				require.Empty(t, req.Dir+req.Session)
				require.Empty(t, req.Env)
				o := req.Options
				require.Empty(t, o.Extra)
				require.Empty(t, o.MCPConfig)
				require.Empty(t, o.AllowedTools)
				require.Empty(t, o.AddDirs)
				for _, m := range req.Messages {
					require.True(t, utf8.ValidString(m.Content))
				}
				_, err := permit.Permissions{MaxBytes: -1}.Apply(clichain.Request{Messages: req.Messages, Model: req.Model, Schema: req.Schema, Options: o})
				require.NoError(t, err)
				ids = append(ids, item.Job.ID)
				return nil
			})
			return ids
		}
		first := read()
		require.Equal(t, first, read())
		seen := map[string]bool{}
		for _, id := range first {
			require.False(t, seen[id], "an id twice: %q", id)
			seen[id] = true
		}
	})
}
