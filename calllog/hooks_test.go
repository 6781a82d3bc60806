package calllog

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

func answering(name, text string, usage call.Usage) clichain.Backend {
	return clichain.BackendFunc(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: text, Model: "m-" + name, Usage: usage}, nil
	})
}

func failing(name string, reason clichain.Reason, usage call.Usage) clichain.Backend {
	return clichain.BackendFunc(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Backend: name, Reason: reason, Message: "the prompt was: " + prompt, Usage: usage}
	})
}

const prompt, answer = "a private prompt", "a private answer"

func dollars(n float64) *float64 { return &n }

func chainOf(l *Log, backends ...clichain.Backend) *clichain.Chain {
	return clichain.ChainOf(backends, &clichain.ChainConfig{Hooks: l.Hooks()})
}

func lines(t *testing.T, l *Log) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(l.dir, "00000001.jsonl"))
	require.NoError(t, err)
	return string(data)
}

func TestHooksRecordAnswer(t *testing.T) {
	repo := t.TempDir()
	dir := filepath.Join(repo, "a", "b")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(repo, ".git"), 0o700))
	l := newLog(t, nil)
	c := chainOf(l, failing("first", clichain.ReasonUsageLimit, call.Usage{InputTokens: 5, CostUSD: dollars(0.25)}),
		answering("second", answer, call.Usage{InputTokens: 7, OutputTokens: 3, CostUSD: dollars(0.5)}))
	req := clichain.Prompt(prompt)
	req.Access, req.Dir = clichain.AccessRead, dir
	req.Metadata = map[string]string{"job": "a private value"}
	_, err := c.Complete(t.Context(), req)
	require.NoError(t, err)

	list := records(t, l, Filter{})
	require.Len(t, list, 1)
	r := list[0]
	require.NotEmpty(t, r.ID)
	require.NotZero(t, r.Time)
	require.Equal(t, "second", r.Backend)
	require.Equal(t, "m-second", r.Model)
	require.Empty(t, r.Reason)
	require.Equal(t, repo, r.Project)
	require.Equal(t, []string{"job"}, r.Metadata)
	require.Equal(t, call.Usage{InputTokens: 12, OutputTokens: 3, CostUSD: dollars(0.75)}, r.Usage)
	require.Len(t, r.Attempts, 2)
	require.Equal(t, "first", r.Attempts[0].Backend)
	require.Equal(t, clichain.ReasonUsageLimit, r.Attempts[0].Reason)
	require.EqualValues(t, 5, r.Attempts[0].Usage.InputTokens)
	require.Equal(t, "second", r.Attempts[1].Backend)
	require.NotContains(t, lines(t, l), "private")
	require.NotContains(t, lines(t, l), "duration_ms\":0,")
}

func TestHooksRecordFailures(t *testing.T) {
	l := newLog(t, nil)
	_, err := chainOf(l, failing("a", clichain.ReasonUsageLimit, call.Usage{})).Complete(t.Context(), clichain.Prompt(prompt))
	require.Error(t, err)
	_, err = chainOf(l).Complete(t.Context(), clichain.Prompt(prompt))
	require.Error(t, err)
	_, err = chainOf(l, answering("a", answer, call.Usage{})).Complete(t.Context(), clichain.Request{})
	require.Error(t, err)
	for range chainOf(l, answering("b", answer, call.Usage{})).Stream(t.Context(), clichain.Prompt(prompt)) {
		break // the reader leaves
	}
	var reasons []clichain.Reason
	for _, r := range records(t, l, Filter{}) {
		reasons = append(reasons, r.Reason)
	}
	require.Equal(t, []clichain.Reason{"usage_limit", "suppressed", "bad_option", "canceled"}, reasons)
	require.NotContains(t, lines(t, l), "private")
}

// With Content the record has the texts, but no secrets.
func TestHooksRecordContent(t *testing.T) {
	const secret, own = "a-key-that-nobody-may-read", "a-token-of-the-request"
	t.Setenv("ANTHROPIC_API_KEY", secret)
	l := newLog(t, &Config{Content: true, Project: filepath.Join(t.TempDir(), secret)})
	req := clichain.Prompt(prompt + " " + secret)
	req.Env = map[string]string{"OTHER_TOKEN": own}
	_, err := chainOf(l, answering("a", answer+" "+secret+" "+own, call.Usage{})).Complete(t.Context(), req)
	require.NoError(t, err)
	_, err = chainOf(l, failing("b", clichain.ReasonExit, call.Usage{})).Complete(t.Context(), clichain.Prompt(prompt))
	require.Error(t, err)
	_, err = chainOf(l, answering("a", strings.Repeat("é", maxText), call.Usage{})).Complete(t.Context(), clichain.Prompt(prompt))
	require.NoError(t, err)
	_, err = chainOf(l, answering("a", strings.Repeat("\x01", maxText), call.Usage{})).Complete(t.Context(), clichain.Prompt(prompt))
	require.NoError(t, err)

	list := records(t, l, Filter{})
	require.Equal(t, []call.Message{{Role: "user", Content: prompt + " [redacted]"}}, list[0].Prompt)
	require.Equal(t, answer+" [redacted] [redacted]", list[0].Answer)
	require.Contains(t, list[0].Project, "[redacted]")
	require.False(t, list[0].Truncated)
	require.Contains(t, list[1].Message, prompt)
	require.Equal(t, strings.Repeat("é", maxText/2), list[2].Answer)
	require.True(t, list[2].Truncated)
	require.Empty(t, list[3].Answer, "six bytes for each control character exceed the limit of a line")
	require.True(t, list[3].Truncated)
	for _, text := range []string{secret, own} {
		require.NotContains(t, lines(t, l), text)
	}
}

// Concurrent calls with the same context have a record each, and the record of a nested chain is that of the outer one.
func TestHooksTellCallsApart(t *testing.T) {
	l := newLog(t, nil)
	inner := chainOf(l, failing("x", clichain.ReasonExit, call.Usage{InputTokens: 1}), answering("y", answer, call.Usage{InputTokens: 2}))
	outer := chainOf(l, inner)
	ctx := context.Background()
	var calls sync.WaitGroup
	for _, model := range []string{"m1", "m2", "m3", "m4"} {
		calls.Go(func() {
			req := clichain.Prompt(prompt)
			req.Model = model
			for _, err := range outer.Stream(ctx, req) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	calls.Wait()
	list := records(t, l, Filter{})
	require.Len(t, list, 4)
	for _, r := range list {
		require.Equal(t, "y", r.Backend)
		require.EqualValues(t, 3, r.Usage.InputTokens)
		require.Len(t, r.Attempts, 2)
	}
	l.pending.Range(func(any, any) bool { t.Error("a call is still pending"); return false })
}

// A log that cannot be written fails no call, and is reported once.
func TestUnwritableLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	var reported []error
	l, err := Open(file, &Config{OnError: func(err error) { reported = append(reported, err) }})
	require.NoError(t, err)
	for range 3 {
		_, err := chainOf(l, answering("a", answer, call.Usage{})).Complete(t.Context(), clichain.Prompt(prompt))
		require.NoError(t, err)
	}
	require.Len(t, reported, 1)
	require.ErrorContains(t, reported[0], "is not a directory")
}

// A process that holds the lock delays a call, and does not fail it.
func TestLockedLog(t *testing.T) {
	l := newLog(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	err := l.locked(t.Context(), func(*os.Root) error {
		cancel(errors.New("the wait ended"))
		return l.Append(ctx, aRecord(1))
	})
	require.ErrorContains(t, err, "the wait ended")
	require.NoError(t, l.Append(t.Context(), aRecord(1)))
}

func TestRecordJSON(t *testing.T) {
	r := aRecord(3)
	r.Reason, r.Prev = "exit", "abc"
	r.Attempts = []Attempt{{Backend: "<a>", Skipped: true}}
	text, err := r.line(maxLine)
	require.NoError(t, err)
	require.Contains(t, string(text), `"backend":"<a>"`)
	require.True(t, follows(text, "abc"))
	var back Record
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, r, back)
}
