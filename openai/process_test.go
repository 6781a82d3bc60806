package openai_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/openai"
	"github.com/clichain/clichain/specs"
)

// TestFakeCLIs checks that a chain of processes answers, and that an error describes a backend's problem.
func TestFakeCLIs(t *testing.T) {
	first, second := specs.Claude(), specs.Codex()
	chain := clichain.ChainOf([]clichain.Backend{
		clichain.NewProvider(first, &clichain.Config{Binary: clitest.Fake(t, "claude", clitest.LoggedOut(first))}),
		clichain.NewProvider(second, &clichain.Config{Binary: clitest.Fake(t, "codex", clitest.Answer(second, "fine"))}),
	}, nil)
	s := serving(t, chain)
	for _, body := range []string{hi, streamHi} {
		a := post(t, s, chat, body)
		require.Equal(t, 200, a.status, a.body)
		require.Equal(t, "codex", a.header.Get("Clichain-Backend"))
		require.Regexp(t, "^claude=(unauthenticated|cooling_down)$", a.header.Get("Clichain-Attempts"))
		require.Contains(t, a.body, "fine")
	}
	a := post(t, s, chat, strings.Replace(hi, `"clichain"`, `"claude"`, 1))
	require.Equal(t, 503, a.status, "a CLI without a login is no client error")
	require.NotContains(t, a.body, "invalid_api_key")
}

// TestClientDisconnects checks that a call ends when its client disconnects, and leaves no process.
func TestClientDisconnects(t *testing.T) {
	clitest.NoLeaks(t)
	spec := specs.Claude()
	started := clitest.Step{Stdout: `{"type":"stream_event","parent_tool_use_id":null,"event":{"delta":{"type":"text_delta","text":"started"}}}` + "\n"}
	for _, test := range []struct {
		name, body string
		steps      []clitest.Step
	}{
		{"before the first text", hi, []clitest.Step{{ReadStdin: true}, {Ignore: []string{"INT", "TERM"}}, {Hang: true}}},
		{"during a stream", streamHi, []clitest.Step{{ReadStdin: true}, started, {Ignore: []string{"INT", "TERM"}}, {Hang: true}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := clitest.Fake(t, "claude", clitest.Scenario{Steps: test.steps})
			ended := make(chan struct{})
			provider := clichain.NewProvider(spec, &clichain.Config{Binary: path, Timeout: patience})
			hooks := &clichain.Hooks{CallEnd: func(context.Context, *clichain.Response, error) { close(ended) }}
			s := serving(t, clichain.ChainOf([]clichain.Backend{provider}, &clichain.ChainConfig{Hooks: hooks}))
			defer s.Close()
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			left := make(chan struct{})
			go func() {
				defer close(left)
				resp, err := s.Client().Do(request(t, s, http.MethodPost, chat, test.body).WithContext(ctx))
				if err == nil { // only for a stream
					defer resp.Body.Close()
					line, _ := bufio.NewReader(resp.Body).ReadString('\n')
					if strings.Contains(line, "data: ") {
						leave()
					}
				}
			}()
			if test.body == hi {
				require.Eventually(t, func() bool { return len(clitest.Survivors(path)) > 0 }, patience, time.Millisecond)
				leave()
			}
			<-left
			select {
			case <-ended:
			case <-time.After(patience):
				t.Fatal("the call did not end")
			}
			require.Empty(t, clitest.Survivors(path))
		})
	}
}

// TestConcurrencyLimit checks that the server never exceeds its concurrency limit, and that all requests succeed.
func TestConcurrencyLimit(t *testing.T) {
	const jobs, requests = 2, 6
	var running, most atomic.Int32
	goOn := make(chan struct{})
	s := serving(t, clichain.BackendFunc("one", func(context.Context, clichain.Request) (*clichain.Response, error) {
		now := running.Add(1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		<-goOn
		running.Add(-1)
		return &clichain.Response{Text: "fine"}, nil
	}), func(c *openai.Config) { c.Concurrency = jobs })
	var all sync.WaitGroup
	statuses := make(chan string, requests)
	for range requests {
		all.Go(func() {
			r := request(t, s, http.MethodPost, chat, hi)
			resp, err := s.Client().Do(r)
			if err != nil {
				statuses <- err.Error()
				return
			}
			_ = resp.Body.Close()
			statuses <- fmt.Sprint(resp.StatusCode)
		})
	}
	require.Eventually(t, func() bool { return running.Load() == jobs }, patience, time.Millisecond)
	for range requests {
		goOn <- struct{}{}
	}
	all.Wait()
	require.EqualValues(t, jobs, most.Load())
	for range requests {
		require.Equal(t, "200", <-statuses)
	}
}
