package cassette

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/stretchr/testify/require"
)

func canonical(t testing.TB, req call.Request) Request {
	t.Helper()
	c, err := Canonical(req)
	require.NoError(t, err)
	return c
}

func TestDiff(t *testing.T) {
	var long, other []string
	for i := range 2000 {
		long, other = append(long, fmt.Sprintf("line %d\n", i)), append(other, fmt.Sprintf("row %d\n", i))
	}
	text := strings.Repeat("é", 200)
	for name, test := range map[string]struct{ from, to, want string }{
		"equal":        {"a\nb\n", "a\nb\n", ""},
		"inserted":     {"a\nc\n", "a\nb\nc\n", `+         "b\n",`},
		"removed":      {"a\nb\nc\n", "a\nc\n", `-         "b\n",`},
		"newline":      {"a", "a\n", `+       "content": "a\n"`},
		"CRLF":         {"a\nb", "a\r\nb", `+         "a\r\n",`},
		"invisible":    {"a", "a\u202e", `+       "content": "a\u202e"`},
		"long line":    {text + "x" + text, text + "y" + text, "…" + strings.Repeat("é", 40) + `y`},
		"many lines":   {strings.Join(long, ""), strings.Join(other, ""), "  …\n"},
		"two changes":  {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", "  …\n"},
		"other scheme": {"x", `{"a": "<b>"}`, `+       "content": "{\"a\": \"<b>\"}"`},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := canonical(t, call.Prompt(test.from)), canonical(t, call.Prompt(test.to))
			got := Diff(from, to)
			require.Equal(t, test.want == "", got == "")
			require.Contains(t, got, test.want)
			require.LessOrEqual(t, strings.Count(got, "\n"), maxDiff+maxDiff/2, "readable")
			for line := range strings.Lines(got) {
				require.Less(t, len(line), maxLineText+20)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	var all []File
	for _, prompt := range []string{"Review this change", "Translate this text to French", "Review this design"} {
		all = append(all, File{Path: prompt, Cassette: Cassette{Request: canonical(t, call.Prompt(prompt))}})
	}
	for prompt, want := range map[string]string{
		"Translate that text to German": "Translate this text to French", "Review this designs": "Review this change",
		"Review the design": "Review this design", "": "Review this change",
	} {
		require.Equal(t, want, Nearest(all, canonical(t, call.Prompt(prompt))).Path, prompt)
	}
}

// Images are compared by name and content, wherever they are.
func TestCanonicalImages(t *testing.T) {
	image := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	key := func(images ...string) Key {
		req := call.Prompt("x")
		req.Options.Images = images
		return canonical(t, req).Key()
	}
	require.Equal(t, key(image("a.png", "1")), key(image("a.png", "1")))
	require.NotEqual(t, key(image("a.png", "1")), key(image("a.png", "2")))
	require.NotEqual(t, key(image("a.png", "1")), key(image("b.png", "1")))
	req := call.Prompt("x")
	req.Options.Images = []string{filepath.Join(t.TempDir(), "none.png")}
	_, err := Canonical(req)
	require.ErrorIs(t, err, call.ErrBadOption)
}

// Canonical must handle each field of a request; this test fails for a new one.
func TestCanonicalKnowsEachField(t *testing.T) {
	req := call.Prompt("x")
	req.Model, req.Access, req.Dir, req.Session = "m", call.AccessRead, "/d", "s"
	req.Threads, req.Schema = []call.Thread{{Backend: "b"}}, json.RawMessage(`{}`)
	req.Options, req.Env = call.Options{MaxTurns: 1}, map[string]string{"A": "b"}
	req.Billing, req.Metadata = call.BillingAPIKey, map[string]string{"a": "b"}
	all, err := json.Marshal(req)
	require.NoError(t, err)
	var given, kept map[string]any
	require.NoError(t, json.Unmarshal(all, &given))
	require.Len(t, given, 11, "a new field of Request: is it part of the answer?")
	data, err := json.Marshal(canonical(t, req))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &kept))
	for _, ignored := range []string{"dir", "env", "billing", "metadata"} {
		require.NotContains(t, kept, ignored)
	}
	require.Len(t, kept, 7)
}

func TestFileName(t *testing.T) {
	for prompt, want := range map[string]string{
		"Name a use of a paper clip!":          "name-a-use-of-a-paper-clip-",
		"../../etc/passwd":                     "etc-passwd-",
		"日本語":                                  "request-",
		"":                                     "request-",
		strings.Repeat("x", 100):               "request-",
		"Fix " + strings.Repeat("a b c ", 100): "fix-a-b-c-a-b-c-a-b-c-a-b-c-a-b-c-a-b-c-",
	} {
		name := canonical(t, call.Prompt(prompt)).FileName()
		require.Regexp(t, "^"+want+"[0-9a-f]{12}\\.json$", name)
		require.Equal(t, filepath.Base(name), name)
	}
}

// FuzzCassette checks that each text is stored and read without a change, and that no content makes Decode panic.
func FuzzCassette(f *testing.F) {
	for _, text := range []string{"a", "a\nb\n", "\n", "\r\n\r", "<&>\u2028\u202e", `["a"]`, `{"cassette": 1}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Decode([]byte(text)); err == nil {
			_, err = Encode(c)
			require.NoError(t, err)
		}
		req, err := Canonical(call.Prompt(text))
		if err != nil || strings.TrimSpace(text) == "" {
			return
		}
		recorded := Call{Backend: "b", Response: ResponseOf(call.Response{Text: text, Duration: 1500 * time.Microsecond})}
		recorded.Add(time.Second, call.Event{Kind: call.EventDelta, Text: text})
		data, err := Encode(&Cassette{Request: req, Calls: []Call{recorded}})
		require.NoError(t, err)
		read, err := Decode(data)
		require.NoError(t, err)
		require.Equal(t, req.Key(), read.Request.Key())
		require.Equal(t, text, read.Calls[0].Events[0].Event().Text)
		require.Equal(t, recorded.Response.Response(), read.Calls[0].Response.Response())
	})
}
