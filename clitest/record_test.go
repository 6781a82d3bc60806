package clitest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/specs"
	"github.com/stretchr/testify/require"
)

// scripted is a backend whose calls yield prepared events and errors.
type scripted struct {
	events []clichain.Event
	errs   []error // of the calls; the last one of all later calls
	calls  int
}

func (*scripted) Name() string { return "scripted" }

func (s *scripted) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(s.Stream(ctx, req))
}

func (s *scripted) Stream(ctx context.Context, _ clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		err := s.errs[min(s.calls, len(s.errs)-1)]
		s.calls++
		text := ""
		for _, e := range s.events {
			if text += e.Text; !yield(e, nil) {
				return
			}
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			yield(clichain.Event{}, err)
			return
		}
		yield(clichain.Event{Kind: clichain.EventDone, Response: &clichain.Response{Text: text, Backend: "scripted"}}, nil)
	}
}

func answers(parts ...string) *scripted {
	s := &scripted{errs: []error{nil}}
	for _, part := range parts {
		s.events = append(s.events, clichain.Event{Kind: clichain.EventDelta, Text: part})
	}
	return s
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return found
}

func collect(t *testing.T, b clichain.Backend, req clichain.Request) (events []clichain.Event) {
	t.Helper()
	for e, err := range b.Stream(t.Context(), req) {
		require.NoError(t, err)
		events = append(events, e)
	}
	return events
}

func TestReplayRepeatsEvents(t *testing.T) {
	t.Parallel()
	dir, spec := filepath.Join(t.TempDir(), "new", "cassettes"), specs.Claude()
	provider := clichain.NewProvider(spec, &clichain.Config{Binary: Fake(t, "claude", Answer(spec, "line 1\n<line 2>\n"))})
	req := clichain.Prompt("Write two lines.")
	req.Metadata = map[string]string{"job": "1"}
	recorded := collect(t, Record(dir, provider), req)

	player := Replay(dir)
	require.Equal(t, "claude", player.Name())
	req.Metadata["job"] = "2"
	replayed := collect(t, player, req)
	require.Equal(t, "2", replayed[len(replayed)-1].Response.Metadata["job"])
	recorded[len(recorded)-1].Response.Metadata = req.Metadata
	want, err := json.Marshal(recorded)
	require.NoError(t, err)
	got, err := json.Marshal(replayed)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))

	data, err := os.ReadFile(files(t, dir)[0])
	require.NoError(t, err)
	require.Contains(t, string(data), "\"line 1\\n\",\n")
	require.Contains(t, string(data), "<line 2>", "a person reads it")
	require.NotContains(t, string(data), "job")
}

// A replayed answer belongs to its caller.
func TestReplaySharesNoMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Record(dir, answers("one")).Complete(t.Context(), clichain.Prompt("x"))
	require.NoError(t, err)
	player := Replay(dir)
	for range 2 {
		resp, err := player.Complete(t.Context(), clichain.Prompt("x"))
		require.NoError(t, err)
		require.Equal(t, "one", resp.Text)
		resp.Text = "changed"
	}
}

func TestReplayRepeatsFailures(t *testing.T) {
	limit := &clichain.BackendError{
		Backend: "claude", Reason: clichain.ReasonUsageLimit, Message: "limit reached", ExitCode: 1,
		RetryAfter: time.Now().Add(time.Hour).UTC().Truncate(time.Second),
	}
	dir := t.TempDir()
	b := answers("answer")
	b.errs = []error{limit, os.ErrPermission, nil}
	recorder := Record(dir, b)
	for range 3 {
		_, _ = recorder.Complete(t.Context(), clichain.Prompt("x"))
	}
	require.Len(t, files(t, dir), 1)
	player := Replay(dir)
	_, err := player.Complete(t.Context(), clichain.Prompt("x"))
	require.Equal(t, limit, err)
	require.ErrorIs(t, err, clichain.ErrUsageLimit)
	_, err = player.Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorIs(t, err, clichain.ErrExit)
	require.ErrorContains(t, err, os.ErrPermission.Error())
	for range 2 {
		resp, err := player.Complete(t.Context(), clichain.Prompt("x"))
		require.NoError(t, err)
		require.Equal(t, "answer", resp.Text)
	}
}

func TestReplayRepeatsFailureOfChain(t *testing.T) {
	dir, spec := t.TempDir(), specs.Codex()
	chain := clichain.ChainOf([]clichain.Backend{
		clichain.NewProvider(spec, &clichain.Config{Binary: Fake(t, "codex", LoggedOut(spec))}),
	}, nil)
	_, want := Record(dir, chain).Complete(t.Context(), clichain.Prompt("x"))
	_, got := Replay(dir).Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorIs(t, got, clichain.ErrUnauthenticated)
	require.EqualError(t, got, want.Error())
	failed, ok := errors.AsType[*clichain.ChainError](got)
	require.True(t, ok)
	require.Equal(t, clichain.ReasonUnauthenticated, failed.Reason())
	require.Equal(t, "codex", failed.Attempts[0].Backend)
}

func TestRecordReplacesOldCalls(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"first", "second"} {
		_, err := Record(dir, answers(text)).Complete(t.Context(), clichain.Prompt("x"))
		require.NoError(t, err)
	}
	events := collect(t, Replay(dir), clichain.Prompt("x"))
	require.Len(t, events, 3)
	require.Equal(t, "second", events[1].Text, "a stream has the text of a call that was no stream")
	require.Equal(t, "second", events[2].Response.Text)
	require.Len(t, files(t, dir), 1)
}

func TestCallsThatAreNotRecorded(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer stop()
	stopped := &clichain.BackendError{Backend: "scripted", Reason: clichain.ReasonCanceled}
	for name, ask := range map[string]func(dir string){
		"canceled": func(dir string) { _, _ = Record(dir, answers("a")).Complete(canceled, clichain.Prompt("x")) },
		"deadline": func(dir string) { _, _ = Record(dir, answers("a")).Complete(late, clichain.Prompt("x")) },
		"stopped by a registry": func(dir string) {
			_, _ = Record(dir, &scripted{errs: []error{stopped}}).Complete(t.Context(), clichain.Prompt("x"))
		},
		"no program": func(dir string) {
			none := clichain.NewProvider(specs.Claude(), &clichain.Config{Binary: filepath.Join(dir, "none")})
			for _, b := range []clichain.Backend{none, clichain.ChainOf([]clichain.Backend{none}, nil)} {
				_, err := Record(dir, b).Complete(t.Context(), clichain.Prompt("x"))
				require.ErrorIs(t, err, clichain.ErrNotInstalled)
			}
		},
		"reader leaves": func(dir string) {
			for range Record(dir, answers("a", "b")).Stream(t.Context(), clichain.Prompt("x")) {
				break
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ask(dir)
			require.Empty(t, files(t, dir))
		})
	}
}

// A chain repeats a call that failed after some text, unless its caller has streamed the text.
func TestRecordKeepsFallbackOfComplete(t *testing.T) {
	broken, dir := answers("half"), t.TempDir()
	broken.errs = []error{&clichain.BackendError{Reason: clichain.ReasonOverloaded}}
	recorder := Record(dir, clichain.ChainOf([]clichain.Backend{broken, upper}, nil))
	resp, err := recorder.Complete(t.Context(), clichain.Prompt("x"))
	require.NoError(t, err)
	require.Equal(t, "X", resp.Text)
	resp, err = Replay(dir).Complete(t.Context(), clichain.Prompt("x"))
	require.NoError(t, err)
	require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrOverloaded)
}

func TestRecordRefusesSecrets(t *testing.T) {
	const key, password = "sk-ant-api03-" + "c2VjcmV0IGtleSBmb3IgYSB0ZXN0AA", "correct horse battery"
	t.Setenv("REVIEW_PASSWORD", password)
	tool := answers("done")
	tool.events = append(tool.events, clichain.Event{
		Kind: clichain.EventToolUse, Name: "Bash", Input: json.RawMessage(`{"command":"login ` + password + `"}`),
	})
	broken := answers("It is "+key[:5], key[5:])
	broken.errs = []error{&clichain.BackendError{Reason: clichain.ReasonOverloaded}}
	failing := answers("x")
	failing.errs = []error{&clichain.BackendError{Reason: clichain.ReasonExit, Stderr: "used " + key}}
	for name, test := range map[string]struct {
		backend *scripted
		prompt  string
		field   string
	}{
		"prompt": {answers("a"), "Use " + key, "request.messages[0].content"},
		"variable": {answers("a"), "Use " + password,
			"request.messages[0].content contains the value of the environment variable REVIEW_PASSWORD"},
		"line of a prompt":    {answers("a"), "Use\n" + key + "\n", "request.messages[0].content"},
		"answer":              {answers("It is " + key), "x", "call."},
		"parts of a failure":  {broken, "x", "call.events (delta)"},
		"parts of the answer": {answers("It is "+key[:5], key[5:]), "x", "call."},
		"input of a tool":     {tool, "x", "call.events[1].input.command"},
		"stderr":              {failing, "x", "call.failure.error.stderr"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := call.Collect(Record(dir, test.backend).Stream(t.Context(), clichain.Prompt(test.prompt)))
			require.ErrorIs(t, err, clichain.ErrBadOption)
			require.ErrorContains(t, err, test.field)
			require.NotContains(t, err.Error(), key[20:])
			require.NotContains(t, err.Error(), password)
			require.Empty(t, files(t, dir))
			if strings.HasPrefix(test.field, "request") {
				require.Zero(t, test.backend.calls, "no backend gets the request")
			}
		})
	}
}

// Recorders of several goroutines and processes can have one directory: no file is ever incomplete.
func TestRecordConcurrently(t *testing.T) {
	dir := t.TempDir()
	recorders := []clichain.Backend{Record(dir, upper), Record(dir, upper)}
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			_, err := recorders[i%2].Complete(t.Context(), clichain.Prompt("prompt "+string(rune('a'+i%4))))
			if err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	require.Len(t, files(t, dir), 4)
	player := Replay(dir)
	require.Equal(t, "upper", player.Name())
	for _, c := range "abcd" {
		calls.Go(func() {
			resp, err := player.Complete(t.Context(), clichain.Prompt("prompt "+string(c)))
			if err != nil || resp.Text != strings.ToUpper("prompt "+string(c)) {
				t.Error(resp, err)
			}
		})
	}
	calls.Wait()
}

var upper = clichain.BackendFunc("upper", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
	return &clichain.Response{Text: strings.ToUpper(req.Messages[len(req.Messages)-1].Content)}, nil
})

func TestRecordReportsFailedWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Record(filepath.Join(file, "below"), answers("a")).Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorIs(t, err, clichain.ErrBadOption)
	require.ErrorContains(t, err, file)
	_, err = Record(t.TempDir(), answers(strings.Repeat("long ", 4<<20))).Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorContains(t, err, "more than 16 MiB")
}
