package hosttools_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/hosttools"
	"github.com/stretchr/testify/require"
)

func TestModelGetsResult(t *testing.T) {
	clitest.NoLeaks(t)
	text := hosttools.Func("text", "Returns a text.", func(context.Context, struct{}) (string, error) { return "plain\ntext", nil })
	fails := hosttools.Func("fails", "Fails.", func(context.Context, struct{}) (string, error) { return "", errors.New("no such city") })
	backend := hosttools.With(player(t, "p", clichain.Config{}), add(), text, fails)
	for name, test := range map[string]struct {
		tool  string
		input any
		want  string
	}{
		"JSON":                {"add", sum{2, 3}, "ok: 5"},
		"text":                {"text", sum{}, "error: "},
		"text without input":  {"text", struct{}{}, "ok: plain\ntext"},
		"error":               {"fails", struct{}{}, "error: no such city"},
		"unknown function":    {"rm", struct{}{}, "refused: "},
		"missing input":       {"add", map[string]any{"a": 1}, "error: "},
		"input of wrong type": {"add", map[string]any{"a": 1, "b": "2"}, "error: "},
		"unknown input":       {"add", map[string]any{"a": 1, "b": 2, "c": 3}, "error: "},
		"input of huge size":  {"add", map[string]any{"a": 1, "b": strings.Repeat("x", 5<<20)}, "refused: "},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := backend.Complete(t.Context(), one(t, test.tool, test.input))
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(resp.Text, test.want), resp.Text)
		})
	}
}

func TestResultHasMaximumSize(t *testing.T) {
	size := hosttools.MaxResult
	huge := hosttools.Func("huge", "Returns a long text.", func(context.Context, struct{}) (string, error) { return strings.Repeat("x", size), nil })
	backend := hosttools.With(player(t, "p", clichain.Config{}), huge)
	resp, err := backend.Complete(t.Context(), one(t, "huge", struct{}{}))
	require.NoError(t, err)
	require.Len(t, resp.Text, len("ok: ")+size)
	size++
	resp, err = backend.Complete(t.Context(), one(t, "huge", struct{}{}))
	require.NoError(t, err)
	require.Equal(t, "error: the result has 1048577 bytes, more than the limit of 1048576", resp.Text)
}

func TestCallsRunInParallel(t *testing.T) {
	clitest.NoLeaks(t)
	const n = 100
	var waiting atomic.Int32
	all := make(chan struct{})
	meet := hosttools.Func("meet", "Waits for the other calls.", func(ctx context.Context, _ struct{}) (string, error) {
		if waiting.Add(1) == n {
			close(all)
		}
		select {
		case <-all:
			return "met", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	s := script{Parallel: true}
	for range n {
		s.Calls = append(s.Calls, toolCall{"meet", struct{}{}})
	}
	resp, err := hosttools.With(player(t, "p", clichain.Config{}), meet).Complete(t.Context(), ask(t, s))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("ok: met\n", n-1)+"ok: met", resp.Text)
}

// A function that ignores its context does not delay the model.
func TestFunctionTimesOut(t *testing.T) {
	over := make(chan struct{})
	slow := hosttools.Func("slow", "Takes long.", func(context.Context, struct{}) (string, error) { <-over; return "", nil })
	slow.Timeout = time.Millisecond
	resp, err := hosttools.With(player(t, "p", clichain.Config{}), slow, add()).Complete(t.Context(),
		ask(t, script{Calls: []toolCall{{"slow", struct{}{}}, {"add", sum{1, 1}}}}))
	close(over)
	require.NoError(t, err)
	require.Equal(t, "error: the function did not return within 1ms\nok: 2", resp.Text)
}

func TestPanicEndsCall(t *testing.T) {
	for name, fn := range map[string]func(){"panic": func() { panic("mine") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			bad := hosttools.Func("bad", "Panics.", func(context.Context, struct{}) (string, error) { fn(); return "", nil })
			want := map[string]any{"panic": "mine", "goexit": "a function of the caller has ended its goroutine"}[name]
			backend := hosttools.With(clichain.ChainOf([]clichain.Backend{player(t, "p", clichain.Config{}), player(t, "q", clichain.Config{})}, nil), bad)
			require.PanicsWithValue(t, want, func() { _, _ = backend.Complete(t.Context(), one(t, "bad", struct{}{})) })
			require.PanicsWithValue(t, want, func() {
				for e := range backend.Stream(t.Context(), one(t, "bad", struct{}{})) {
					require.NotEqual(t, clichain.EventDone, e.Kind)
				}
			})
		})
	}
}

// After a function that may change something, no other backend repeats the request, as after an edit of a file.
func TestChainStopsAfterFunctionThatActs(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		t.Run(fmt.Sprint(readOnly), func(t *testing.T) {
			calls := 0
			count := hosttools.Func("count", "Counts.", func(context.Context, struct{}) (int, error) { calls++; return calls, nil })
			count.ReadOnly = readOnly
			chain := clichain.ChainOf([]clichain.Backend{player(t, "p", clichain.Config{}), player(t, "q", clichain.Config{})}, nil)
			req := ask(t, script{Calls: []toolCall{{"count", struct{}{}}}, Fail: "BROKEN"})
			_, err := hosttools.With(chain, count).Complete(t.Context(), req)
			failed := call.AsChainError(err)
			require.NotNil(t, failed, "%v", err)
			var sideEffects bool
			for _, a := range failed.Attempts {
				if be, ok := errors.AsType[*clichain.BackendError](a.Err); ok {
					sideEffects = sideEffects || be.SideEffects
				}
			}
			require.Equal(t, !readOnly, sideEffects)
			if readOnly {
				require.Greater(t, calls, 1)
			} else {
				require.Equal(t, 1, calls)
			}
		})
	}
}

// An answer that the chain refuses is not replayed either.
func TestChainStopsAfterRefusedAnswer(t *testing.T) {
	chain := clichain.ChainOf([]clichain.Backend{player(t, "p", clichain.Config{}), player(t, "q", clichain.Config{})}, &clichain.ChainConfig{
		Accept: func(context.Context, clichain.Request, *clichain.Response) error { return errors.New("no") },
	})
	calls := 0
	count := hosttools.Func("count", "Counts.", func(context.Context, struct{}) (int, error) { calls++; return calls, nil })
	_, err := hosttools.With(chain, count).Complete(t.Context(), one(t, "count", struct{}{}))
	require.ErrorIs(t, err, clichain.ErrRejected)
	require.Equal(t, 1, calls)
}

// The server refuses other programs, other users and pages in a browser. Each lacks something that the CLI has.
func TestServerAdmitsOnlyCLI(t *testing.T) {
	s := &spy{Provider: player(t, "p", clichain.Config{})}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	probe := hosttools.Func("probe", "Sends requests to its own server.", func(ctx context.Context, _ struct{}) (string, error) {
		for name, test := range map[string]struct {
			change func(*http.Request)
			want   int
		}{
			"the CLI":       {func(*http.Request) {}, http.StatusOK},
			"no token":      {func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusForbidden},
			"another token": {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, http.StatusForbidden},
			"another path":  {func(r *http.Request) { r.URL.Path = "/mcp" }, http.StatusForbidden},
			"rebound name":  {func(r *http.Request) { r.Host = "evil.example" }, http.StatusForbidden},
			"local name":    {func(r *http.Request) { r.Host = "localhost" }, http.StatusForbidden},
			"page":          {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
			"page in a box": {func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
			"long body": {func(r *http.Request) {
				r.Body = io.NopCloser(io.MultiReader(strings.NewReader(ping), strings.NewReader(strings.Repeat(" ", 4<<20))))
				r.ContentLength = -1
			}, http.StatusRequestEntityTooLarge},
			"preflight": {func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Del("Authorization") }, http.StatusForbidden},
		} {
			r := s.request(t, ctx, ping)
			test.change(r)
			resp, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			_ = resp.Body.Close()
			require.Equal(t, test.want, resp.StatusCode, name)
			require.Empty(t, resp.Header.Get("Access-Control-Allow-Origin"))
		}
		return "done", nil
	})
	resp, err := hosttools.With(s, probe).Complete(t.Context(), one(t, "probe", struct{}{}))
	require.NoError(t, err)
	require.Equal(t, "ok: done", resp.Text)
	_, err = http.Get(s.offer.URL)
	require.Error(t, err, "the server outlives the call")
}

// request returns a request of the CLI to the server of the call.
func (s *spy) request(t *testing.T, ctx context.Context, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.offer.URL, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.offer.Token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return r
}

func TestErrorHidesToken(t *testing.T) {
	s := &spy{Provider: player(t, "p", clichain.Config{})}
	_, err := hosttools.With(s, add()).Complete(t.Context(), ask(t, script{Fail: "BROKEN"}))
	require.Error(t, err)
	failed, ok := errors.AsType[*clichain.BackendError](err)
	require.True(t, ok)
	require.Contains(t, failed.Stderr, "[redacted]")
	require.NotContains(t, fmt.Sprintf("%+v %s", failed, failed.Stderr), s.offer.Token)
}

func TestMistakesAreErrors(t *testing.T) {
	fn := func(context.Context, struct{}) (string, error) { return "", nil }
	late, ok := hosttools.Func("ok", "x", fn), hosttools.Func("ok", "x", fn)
	late.Timeout = hosttools.MaxTime + 1
	for name, test := range map[string]struct {
		tools []hosttools.Tool
		want  string
	}{
		"no function":    {nil, "there is no function"},
		"zero value":     {[]hosttools.Tool{{}}, "use Func to make a tool"},
		"no name":        {[]hosttools.Tool{hosttools.Func("", "x", fn)}, "the name must have"},
		"blank":          {[]hosttools.Tool{hosttools.Func("a b", "x", fn)}, "the name must have"},
		"quote":          {[]hosttools.Tool{hosttools.Func(`a"],x=["`, "x", fn)}, "the name must have"},
		"flag":           {[]hosttools.Tool{hosttools.Func("--yolo", "x", fn)}, "the name must have"},
		"path":           {[]hosttools.Tool{hosttools.Func("../add", "x", fn)}, "the name must have"},
		"line break":     {[]hosttools.Tool{hosttools.Func("add\n", "x", fn)}, "the name must have"},
		"long name":      {[]hosttools.Tool{hosttools.Func(strings.Repeat("x", 41), "x", fn)}, "the name must have"},
		"no description": {[]hosttools.Tool{hosttools.Func("add", "", fn)}, "the description is empty"},
		"same name":      {[]hosttools.Tool{ok, ok}, "another function has the same name"},
		"long timeout":   {[]hosttools.Tool{late}, "the timeout 50.000000001s is not within 0 to 50s"},
		"input text":     {[]hosttools.Tool{hosttools.Func("add", "x", func(context.Context, string) (string, error) { return "", nil })}, "the input must be a struct"},
		"input channel":  {[]hosttools.Tool{hosttools.Func("add", "x", func(context.Context, chan int) (string, error) { return "", nil })}, "the input has no JSON Schema"},
		"nil function":   {[]hosttools.Tool{hosttools.Func[struct{}, string]("add", "x", nil)}, "the function is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hosttools.With(player(t, "p", clichain.Config{}), test.tools...).Complete(t.Context(), clichain.Prompt("x"))
			require.ErrorIs(t, err, clichain.ErrBadOption)
			require.ErrorContains(t, err, test.want)
		})
	}
	inner := hosttools.With(player(t, "p", clichain.Config{}), ok)
	_, err := hosttools.With(inner, add()).Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorContains(t, err, "pass all of them to one With")
}

// A chain skips the backends that cannot offer functions.
func TestChainSkipsBackendWithoutFunctions(t *testing.T) {
	answers := clichain.BackendFunc("api", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "from memory"}, nil
	})
	_, err := hosttools.With(answers, add()).Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorIs(t, err, clichain.ErrUnsupported)
	plain := clichain.NewProvider(clichain.CliSpec{Name: "plain", Binary: "/bin/cat", Transports: []clispec.Transport{clispec.TransportStdin}}, nil)
	chain := clichain.ChainOf([]clichain.Backend{answers, plain, player(t, "p", clichain.Config{})}, nil)
	resp, err := hosttools.With(chain, add()).Complete(t.Context(), one(t, "add", sum{2, 3}))
	require.NoError(t, err)
	require.Equal(t, "ok: 5", resp.Text)
	require.Len(t, resp.Attempts, 2)
	for _, a := range resp.Attempts {
		require.Equal(t, clichain.ReasonUnsupported, a.Reason)
	}
}
