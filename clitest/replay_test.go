package clitest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/stretchr/testify/require"
)

// recordedDir returns a directory with recordings of these prompts.
func recordedDir(t *testing.T, prompts ...string) string {
	t.Helper()
	dir := t.TempDir()
	recorder := Record(dir, upper)
	for _, prompt := range prompts {
		_, err := recorder.Complete(t.Context(), clichain.Prompt(prompt))
		require.NoError(t, err)
	}
	return dir
}

func TestReplayMiss(t *testing.T) {
	t.Parallel()
	dir := recordedDir(t, "Review this change:\n+ one\n+ two\n", "Name a use of a paper clip.")
	_, err := Replay(dir).Complete(t.Context(), clichain.Prompt("Review this change:\n+ one\n+ three\n"))
	require.ErrorIs(t, err, clichain.ErrBadOption)
	missed, ok := errors.AsType[*MissError](err)
	require.True(t, ok)
	require.Contains(t, filepath.Base(missed.Nearest), "review-this-change-")
	require.Equal(t, `          "Review this change:\n",
          "+ one\n",
-         "+ two\n"
+         "+ three\n"
        ]
      }
`, missed.Diff)
	require.ErrorContains(t, err, missed.Diff)
	require.ErrorContains(t, err, "clitest.Record")
}

// A chain does not ask its next backend after a miss, and its error has the first difference.
func TestReplayMissEndsChain(t *testing.T) {
	t.Parallel()
	second := answers("no")
	chain := clichain.ChainOf([]clichain.Backend{Replay(recordedDir(t, "Name a use.")), second}, nil)
	_, err := chain.Complete(t.Context(), clichain.Prompt("Name two uses."))
	require.Zero(t, second.calls)
	require.ErrorContains(t, err, `-"content": "Name a use." +"content": "Name two uses."`)
	_, ok := errors.AsType[*MissError](err)
	require.True(t, ok)
}

func TestReplayUnusableDirectory(t *testing.T) {
	t.Parallel()
	valid := func(t *testing.T) string {
		data, err := os.ReadFile(files(t, recordedDir(t, "x"))[0])
		require.NoError(t, err)
		return string(data)
	}(t)
	for name, test := range map[string]struct{ content, want string }{
		"truncated":        {valid[:len(valid)/2], "unexpected end of JSON"},
		"empty file":       {"", "unexpected end of JSON"},
		"other JSON":       {"{}", `no member "cassette"`},
		"no object":        {"[]", "not valid JSON"},
		"later format":     {strings.Replace(valid, `"cassette": 1`, `"cassette": 2`, 1), "format 2"},
		"unknown field":    {strings.Replace(valid, `"calls"`, `"more": 1, "calls"`, 1), `unknown field "more"`},
		"unknown option":   {strings.Replace(valid, `"request": {`, `"request": {"options": {"efort": "x"},`, 1), "effort"},
		"no calls":         {`{"cassette": 1, "request": {"messages": []}, "calls": []}`, "no calls"},
		"no result":        {`{"cassette": 1, "request": {"messages": []}, "calls": [{"backend": "a"}]}`, "either a response or a failure"},
		"empty answer":     {strings.Replace(valid, `"text": "X",`, `"text": " ",`, 1), "no text"},
		"impossible event": {strings.Replace(valid, `"response"`, `"events": [{"kind": "done"}], "response"`, 1), "events[0]"},
		"second document":  {valid + "{}", "invalid character"},
		"too large":        {valid + strings.Repeat(" ", 16<<20), "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NotEqual(t, valid, test.content)
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.json"), []byte(test.content), 0o600))
			_, err := Replay(dir).Complete(t.Context(), clichain.Prompt("x"))
			require.ErrorIs(t, err, clichain.ErrBadOption)
			require.ErrorContains(t, err, "broken.json")
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestReplayDirectories(t *testing.T) {
	t.Parallel()
	_, err := Replay(filepath.Join(t.TempDir(), "none")).Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorContains(t, err, "there is no directory")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Replay(t.TempDir()).Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorContains(t, err, "has no recordings")

	dir := recordedDir(t, "x")
	data, err := os.ReadFile(files(t, dir)[0])
	require.NoError(t, err)
	copied := filepath.Join(dir, "copy.json")
	require.NoError(t, os.WriteFile(copied, data, 0o600))
	_, err = Replay(dir).Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorContains(t, err, "have the same request")
	require.NoError(t, os.Rename(copied, filepath.Join(dir, "README.md")))
	_, err = Replay(dir).Complete(t.Context(), clichain.Prompt("x"))
	require.NoError(t, err, "other files are ignored")
}

// A link in the place of a recording is replaced, and its target does not change. Replay follows links.
func TestRecordReplacesLinks(t *testing.T) {
	t.Parallel()
	dir, target := recordedDir(t, "x"), filepath.Join(t.TempDir(), "target")
	file := files(t, dir)[0]
	require.NoError(t, os.Rename(file, target))
	if err := os.Symlink(target, file); err != nil {
		t.Skip(err)
	}
	_, err := Replay(dir).Complete(t.Context(), clichain.Prompt("x"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(target, []byte("kept"), 0o600))
	_, err = Record(dir, upper).Complete(t.Context(), clichain.Prompt("x"))
	require.NoError(t, err)
	data, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "kept", string(data))
	require.Equal(t, []string{file}, files(t, dir))
}

// An edited request is a recording of the new request.
func TestReplayEditedRequest(t *testing.T) {
	t.Parallel()
	dir := recordedDir(t, "before")
	file := files(t, dir)[0]
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	edited := strings.Replace(string(data), `"before"`, `"after"`, 1)
	require.NoError(t, os.WriteFile(file, []byte(edited), 0o600))
	resp, err := Replay(dir).Complete(t.Context(), clichain.Prompt("after"))
	require.NoError(t, err)
	require.Equal(t, "BEFORE", resp.Text)
}

func TestReplayRealTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		slow := clichain.BackendFunc("slow", func(context.Context, clichain.Request) (*clichain.Response, error) {
			time.Sleep(3 * time.Second)
			return &clichain.Response{Text: "late"}, nil
		})
		_, err := Record(dir, slow).Complete(t.Context(), clichain.Prompt("x"))
		require.NoError(t, err)
		for _, realTime := range []bool{false, true} {
			player, began := Replay(dir), time.Now()
			player.RealTime = realTime
			_, err := player.Complete(t.Context(), clichain.Prompt("x"))
			require.NoError(t, err)
			require.Equal(t, realTime, time.Since(began) == 3*time.Second, "took %v", time.Since(began))
		}
		player := Replay(dir)
		player.RealTime = true
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		_, err = player.Complete(ctx, clichain.Prompt("x"))
		require.ErrorIs(t, err, clichain.ErrTimeout)
	})
}

func TestReplayCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Replay(recordedDir(t, "x")).Complete(ctx, clichain.Prompt("x"))
	require.ErrorIs(t, err, clichain.ErrCanceled)
}

func TestReplayUnused(t *testing.T) {
	t.Parallel()
	dir := recordedDir(t, "first", "second")
	player := Replay(dir)
	_, err := player.Complete(t.Context(), clichain.Prompt("first"))
	require.NoError(t, err)
	unused, err := player.Unused()
	require.NoError(t, err)
	require.Len(t, unused, 1)
	require.Contains(t, unused[0], "second-")
	_, err = Replay(t.TempDir()).Unused()
	require.Error(t, err)
}

// The turns of a conversation are requests with the session of the answer before.
func TestReplayTurns(t *testing.T) {
	t.Parallel()
	turns := clichain.BackendFunc("turns", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		session := "turns:8d3b0c9e-1f9e-4b5c-9a51-0c53a2b6c9aa"
		return &clichain.Response{Text: "after " + req.Session + ".", Session: session}, nil
	})
	talk := func(b clichain.Backend) (texts []string) {
		req := clichain.Prompt("go on")
		for range 2 {
			resp, err := b.Complete(t.Context(), req)
			require.NoError(t, err)
			req.Session, texts = resp.Session, append(texts, resp.Text)
		}
		return texts
	}
	dir := t.TempDir()
	want := talk(Record(dir, turns))
	require.NotEqual(t, want[0], want[1])
	require.Equal(t, want, talk(Replay(dir)))
}

func TestReplayComparesRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ask := func(req clichain.Request) clichain.Request {
		req.Schema = []byte(`{"type":"object","properties":{"a":{"const":1.0}}}`)
		return req
	}
	backend := clichain.BackendFunc("json", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: `{"a":1.0}`}, nil
	})
	_, err := Record(dir, backend).Complete(t.Context(), ask(clichain.Prompt("x")))
	require.NoError(t, err)
	for name, test := range map[string]struct {
		change func(*clichain.Request)
		same   bool
	}{
		"metadata":         {func(r *clichain.Request) { r.Metadata = map[string]string{"a": "b"} }, true},
		"payer":            {func(r *clichain.Request) { r.Billing = call.BillingAPIKey }, true},
		"default model":    {func(r *clichain.Request) { r.Model = " default" }, true},
		"form of schema":   {func(r *clichain.Request) { r.Schema = []byte(` {"properties":{"a":{"const":1.0}},"type":"object"} `) }, true},
		"directory":        {func(r *clichain.Request) { r.Dir = t.TempDir() }, true},
		"schema":           {func(r *clichain.Request) { r.Schema = []byte(`{"type":"object"}`) }, false},
		"trailing newline": {func(r *clichain.Request) { r.Messages[0].Content = "x\n" }, false},
		"CRLF":             {func(r *clichain.Request) { r.Messages[0].Content = "x\r\n" }, false},
		"model":            {func(r *clichain.Request) { r.Model = "opus" }, false},
		"access":           {func(r *clichain.Request) { r.Access = clichain.AccessRead }, false},
		"role":             {func(r *clichain.Request) { r.Messages[0].Role = clichain.RoleSystem }, false},
		"NUL":              {func(r *clichain.Request) { r.Messages[0].Content = "x\x00" }, false},
		"invalid UTF-8":    {func(r *clichain.Request) { r.Messages[0].Content = "x\xff" }, false},
		"invalid schema":   {func(r *clichain.Request) { r.Schema = []byte(`{`) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			req := ask(clichain.Prompt("x"))
			test.change(&req)
			_, err := Replay(dir).Complete(t.Context(), req)
			if test.same {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, clichain.ErrBadOption)
		})
	}
}
