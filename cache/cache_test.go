package cache_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cache"
	"github.com/clichain/clichain/call"
	"github.com/stretchr/testify/require"
)

// counting is a backend that counts its calls. Its answer is the prompt in upper case.
type counting struct {
	clichain.Backend
	calls atomic.Int64
}

func newCounting(change func(*clichain.Response) error) *counting {
	c := &counting{}
	c.Backend = clichain.BackendFunc("model", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		c.calls.Add(1)
		resp := &clichain.Response{
			Text: strings.ToUpper(req.Messages[len(req.Messages)-1].Content), Model: "large", Session: "model:1",
			Usage: clichain.Usage{InputTokens: 5, CostUSD: new(0.25)},
		}
		if change != nil {
			return resp, change(resp)
		}
		return resp, nil
	})
	return c
}

func newCache(t *testing.T, b clichain.Backend, cfg cache.Config) clichain.Backend {
	t.Helper()
	c, err := cache.Open(cfg)
	require.NoError(t, err)
	return c.Backend(b)
}

func ask(t *testing.T, b clichain.Backend, req clichain.Request) *clichain.Response {
	t.Helper()
	resp, err := b.Complete(t.Context(), req)
	require.NoError(t, err)
	return resp
}

func TestCachedAnswer(t *testing.T) {
	dir, model := filepath.Join(t.TempDir(), "a", "b"), newCounting(nil)
	req := clichain.Prompt("question")
	req.Metadata = map[string]string{"line": "1"}
	require.Empty(t, ask(t, newCache(t, model, cache.Config{Dir: dir}), req).Flags)
	again := newCache(t, model, cache.Config{Dir: dir}) // as in another process
	req.Metadata = map[string]string{"line": "2"}
	got := ask(t, again, req)
	require.Equal(t, "QUESTION", got.Text)
	require.Equal(t, "model", got.Backend)
	require.Equal(t, "large", got.Model)
	require.Equal(t, []call.Flag{call.FlagCached}, got.Flags)
	require.Equal(t, clichain.Usage{CostUSD: new(0.0)}, got.TotalUsage())
	require.Empty(t, got.Session)
	require.Equal(t, "2", got.Metadata["line"])

	var kinds []clichain.EventKind
	text := ""
	for e, err := range again.Stream(t.Context(), req) {
		require.NoError(t, err)
		kinds, text = append(kinds, e.Kind), text+e.Text
	}
	require.Equal(t, []clichain.EventKind{clichain.EventStart, clichain.EventText, clichain.EventDone}, kinds)
	require.Equal(t, "QUESTION", text)
	for range again.Stream(t.Context(), req) {
		break
	}
	require.EqualValues(t, 1, model.calls.Load())
	if runtime.GOOS != "windows" {
		for _, path := range append(stored(t, dir), dir, filepath.Dir(dir)) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&0o077, path)
		}
	}
}

// A stream is stored as well, unless its reader leaves early.
func TestStreamIsStored(t *testing.T) {
	dir, model := t.TempDir(), newCounting(nil)
	b := newCache(t, model, cache.Config{Dir: dir})
	for range b.Stream(t.Context(), clichain.Prompt("x")) {
		break
	}
	require.Empty(t, stored(t, dir))
	_, err := call.Collect(b.Stream(t.Context(), clichain.Prompt("x")))
	require.NoError(t, err)
	require.Len(t, stored(t, dir), 1)
}

func TestRequestsThatAreNotCached(t *testing.T) {
	for name, change := range map[string]func(*clichain.Request){
		"access read":  func(r *clichain.Request) { r.Access = clichain.AccessRead },
		"access write": func(r *clichain.Request) { r.Access = clichain.AccessWrite },
		"access full":  func(r *clichain.Request) { r.Access = clichain.AccessFull },
		"session":      func(r *clichain.Request) { r.Session = "model:1" },
		"thread":       func(r *clichain.Request) { r.Threads = []call.Thread{{Backend: "model"}} },
		"continue":     func(r *clichain.Request) { r.Options.Continue = true },
		"session id":   func(r *clichain.Request) { r.Options.SessionID = "1" },
		"MCP server":   func(r *clichain.Request) { r.Options.MCPConfig = []json.RawMessage{[]byte(`{"mcpServers":{}}`)} },
		"agents":       func(r *clichain.Request) { r.Options.Agents = json.RawMessage(`{}`) },
		"variable":     func(r *clichain.Request) { r.Env = map[string]string{"A": "b"} },
		"arguments":    func(r *clichain.Request) { r.Options.Extra = map[string][]string{"model": {"-x"}} },
	} {
		t.Run(name, func(t *testing.T) {
			dir, model := t.TempDir(), newCounting(nil)
			b := newCache(t, model, cache.Config{Dir: dir})
			req := clichain.Prompt("question")
			change(&req)
			ask(t, b, req)
			require.Empty(t, ask(t, b, req).Flags)
			require.EqualValues(t, 2, model.calls.Load())
			require.Empty(t, stored(t, dir))
		})
	}
	model := newCounting(nil)
	ctx := call.WithHostTools(t.Context(), &call.HostTools{})
	b := newCache(t, model, cache.Config{Dir: t.TempDir()})
	for range 2 {
		_, err := b.Complete(ctx, clichain.Prompt("functions"))
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, model.calls.Load())
}

func TestAnswersThatAreNotCached(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*clichain.Response) error
		warning string
	}{
		"failure":   {func(*clichain.Response) error { return errors.New("failed") }, ""},
		"truncated": {func(r *clichain.Response) error { r.Flags = []call.Flag{call.FlagTruncated}; return nil }, ""},
		"redacted":  {func(r *clichain.Response) error { r.Flags = []call.Flag{call.FlagRedacted}; return nil }, ""},
		"secret": {func(r *clichain.Response) error {
			r.Text = "sk-ant-api03-" + "c2VjcmV0IGtleSBmb3IgYSB0ZXN0AA"
			return nil
		}, "response.text contains a text that looks like a key"},
		"too large": {func(r *clichain.Response) error { r.Text = strings.Repeat("x", 5000); return nil }, "larger than the cache"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := newCache(t, newCounting(test.change), cache.Config{Dir: dir, MaxBytes: 4000})
			resp, err := b.Complete(t.Context(), clichain.Prompt("question"))
			if err == nil && test.warning != "" {
				require.Len(t, resp.Warnings, 1)
				require.Contains(t, resp.Warnings[0], test.warning)
			}
			require.Empty(t, stored(t, dir))
		})
	}
}

func TestScopesShareNothing(t *testing.T) {
	dir, model := t.TempDir(), newCounting(nil)
	for _, scope := range []string{"", "small", "large"} {
		require.Empty(t, ask(t, newCache(t, model, cache.Config{Dir: dir, Scope: scope}), clichain.Prompt("x")).Flags)
	}
	require.Len(t, stored(t, dir), 3)
}

// A chain is ready if the wrapped chain is.
func TestReady(t *testing.T) {
	type readier interface{ Ready(context.Context) error }
	chain := clichain.ChainOf(nil, nil)
	require.Equal(t, chain.Ready(t.Context()), newCache(t, chain, cache.Config{Dir: t.TempDir()}).(readier).Ready(t.Context()))
	require.NoError(t, newCache(t, newCounting(nil), cache.Config{Dir: t.TempDir()}).(readier).Ready(t.Context()))
}
