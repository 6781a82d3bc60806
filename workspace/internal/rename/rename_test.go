package rename

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

const (
	copied   = `/cache/work/1f/0/my "app" é`
	realDir  = `/real/work/1f/0/my "app" é`
	original = `/home/u/my "app" é`
)

func paths() *Paths {
	return New(Pair{copied, original}, Pair{realDir, original}, Pair{copied + "/sub", "/home/u/link"})
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"no path":                "no path",
		"in " + copied + "/a.go": "in " + original + "/a.go",
		realDir + " " + copied:   original + " " + original,
		copied + "/sub/b":        "/home/u/link/b",
		"/cache" + copied:        "/cache" + original,
		`{"p":"/cache/work/1f/0/my \"app\" é/a"}`:                   `{"p":"/home/u/my \"app\" é/a"}`,
		`{"p":"\/cache\/work\/1f\/0\/my \"app\" é/a"}`:              `{"p":"\/home\/u\/my \"app\" é/a"}`,
		"file:///cache/work/1f/0/my%20%22app%22%20%C3%A9/a#L1":      "file:///home/u/my%20%22app%22%20%C3%A9/a#L1",
		"vscode://file/cache/work/1f/0/my%20%22app%22%20%C3%A9/a:1": "vscode://file/home/u/my%20%22app%22%20%C3%A9/a:1",
	} {
		require.Equal(t, want, paths().Text(text))
	}
	require.Equal(t, "a file:///home/u/b%20c", New(Pair{"/copy/x", "/home/u/b c"}).Text("a file:///copy/x"))
	require.Equal(t, "text", new(Paths).Text("text"))
}

func TestJSON(t *testing.T) {
	raw := func(path string) []byte {
		return []byte(`{ "a" : [1, {"` + "é" + `\"":` + string(quote(path+"/x")) + `}], "b":"\u00e9\\"}`)
	}
	require.Equal(t, string(raw(original)), string(paths().JSON(raw(copied))))
	escaped := strings.ReplaceAll(string(raw(copied)), "/", `\u002f`)
	require.Equal(t, string(raw(original)), string(paths().JSON([]byte(escaped))))
	require.Equal(t, "not JSON: "+original, string(paths().JSON([]byte("not JSON: "+copied))))
	require.Equal(t, "1", string(paths().JSON([]byte("1"))))
}

// The text of all deltas is the same for every split of it, and also for events between the deltas.
func TestStreamSplits(t *testing.T) {
	p := paths()
	pieces := []string{
		copied, realDir, original, copied + "/sub", `/cache/work/1f/0/my \"app\" é`,
		"file:///cache/work/1f/0/my%20%22app%22%20%C3%A9",
		"/", "file://", "/cache/work/1f/0/my", "/cache/work", " ", "f", "text", "\n", "é", "/real/work/1f/0/my \"app", "/sub",
	}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var text string
		for range r.IntN(7) {
			piece := pieces[r.IntN(len(pieces))]
			text += piece[:len(piece)-r.IntN(2)*r.IntN(len(piece))]
		}
		s := p.Stream()
		var joined strings.Builder
		add := func(events []call.Event) {
			for _, e := range events {
				if e.Kind == call.EventDelta {
					require.NotEmpty(t, e.Text)
					joined.WriteString(e.Text)
				}
			}
		}
		for rest := text; rest != ""; {
			n := 1 + r.IntN(min(len(rest), 1+r.IntN(20)))
			add(s.Next(call.Event{Kind: call.EventDelta, Text: rest[:n]}))
			if rest = rest[n:]; r.IntN(4) == 0 {
				add(s.Next(call.Event{Kind: call.EventUsage}))
			}
		}
		add(s.End())
		require.Equal(t, p.Text(text), joined.String(), "%d: %q", seed, text)
	}
}

func TestStreamKinds(t *testing.T) {
	const half = len(copied) / 2
	s := paths().Stream()
	delta := func(text string) call.Event { return call.Event{Kind: call.EventDelta, Backend: "a", Text: text} }
	require.Empty(t, s.Next(delta(copied[:half])))
	tool := call.Event{Kind: call.EventToolUse, Input: json.RawMessage(`{"path":` + string(quote(copied)) + `}`)}
	events := s.Next(tool)
	require.Equal(t, []call.Event{delta(copied[:half])}, events[:1])
	require.JSONEq(t, `{"path":`+string(quote(original))+`}`, string(events[1].Input))

	require.Empty(t, s.Next(delta(copied[:half])))
	reset := call.Event{Kind: call.EventReset, Message: "again"}
	require.Equal(t, []call.Event{reset}, s.Next(reset), "a reset discards the text that is held back")
	require.Empty(t, s.End())

	thought := call.Event{Kind: call.EventThinking, Text: copied[:half]}
	require.Empty(t, s.Next(thought))
	require.Equal(t, []call.Event{thought, delta("x")}, s.Next(delta("x")))

	text := func(path string) call.Event {
		return call.Event{Kind: call.EventText, Text: "in " + path, Message: path, Raw: path}
	}
	require.Equal(t, []call.Event{text(original)}, s.Next(text(copied)))
}

func TestError(t *testing.T) {
	p := paths()
	require.NoError(t, p.Error(nil))
	inner := &fs.PathError{Op: "open", Path: copied, Err: fs.ErrNotExist}
	failed := &call.Error{
		Backend: "a", Reason: call.ReasonExit, Message: copied, Stderr: copied, Partial: copied, Hint: copied,
		Advice: []call.Advice{{Value: copied}}, Warnings: []string{copied}, Err: inner,
		Earlier: []call.Attempt{{Err: errors.New(copied)}},
	}
	chain := &call.ChainError{Attempts: []call.Attempt{{Backend: "a", Err: failed}}, Cause: inner, Note: copied}
	for _, err := range []error{p.Error(failed), p.Error(chain)} {
		require.NotContains(t, err.Error(), "/cache/")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorIs(t, err, call.ErrExit)
		be, _ := errors.AsType[*call.Error](err)
		out, jsonErr := json.Marshal([]any{be, be.Earlier})
		require.NoError(t, jsonErr)
		require.NotContains(t, string(out), "/cache/")
	}
	require.Equal(t, copied, failed.Message, "the error itself is unchanged")
	plain := errors.New("no path")
	require.Same(t, plain, p.Error(plain))
}

func TestResponse(t *testing.T) {
	patch := &call.Changes{Patch: copied}
	r := &call.Response{
		Text: `"` + strings.ReplaceAll(copied, `"`, `\"`) + `"`, Warnings: []string{copied}, Changes: patch,
		Attempts: []call.Attempt{{Err: errors.New(copied)}},
	}
	for _, structured := range []bool{false, true} {
		out := paths().Response(r, structured)
		require.Equal(t, `"`+strings.ReplaceAll(original, `"`, `\"`)+`"`, out.Text)
		require.Equal(t, []string{original}, out.Warnings)
		require.Equal(t, original, out.Attempts[0].Err.Error())
		require.Equal(t, copied, out.Changes.Patch, "a patch stays as it is")
	}
	require.Equal(t, copied, r.Warnings[0], "the response itself is unchanged")
}
