package otel_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
)

// root is the span of a call of a chain without a name. run is the prefix of the spans of its attempts.
const (
	root = "invoke_workflow chain"
	run  = root + " > invoke_agent "
)

func TestSpansOfCall(t *testing.T) {
	clitest.NoLeaks(t)
	limited := failing("a", clichain.ReasonRateLimited, usage{})
	refused := clichain.BackendFunc("gone", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, clichain.ErrUnsupported
	})
	b := fine
	inside := clichain.ChainOf([]clichain.Backend{limited}, &config{NoCooldown: true})
	for name, test := range map[string]struct {
		backends []clichain.Backend
		want     []string
	}{
		"an answer": {[]clichain.Backend{b}, []string{root, run + "b"}},
		"a fallback": {[]clichain.Backend{limited, b}, []string{
			root, run + "a !rate_limited", run + "b",
		}},
		"error without a backend name": {[]clichain.Backend{refused}, []string{
			root + " !unsupported", run + "gone !unsupported",
		}},
		"undefined reason": {[]clichain.Backend{failing("a", prompt, usage{})}, []string{
			root + " !_OTHER", run + "a !_OTHER",
		}},
		"no answer": {[]clichain.Backend{limited}, []string{
			root + " !rate_limited", run + "a !rate_limited",
		}},
		"empty chain": {nil, []string{root + " !_OTHER"}},
		"nested chain": {[]clichain.Backend{inside, b}, []string{
			root, run + "a !rate_limited", run + "b",
		}},
	} {
		for kind, stream := range map[string]bool{"complete": false, "stream": true} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := watch(t)
				c := s.chain(config{NoCooldown: true}, test.backends...)
				require.Equal(t, "chain", c.Name())
				_, _ = ask(t, c, stream, question)
				require.Equal(t, test.want, s.tree(t))
			})
		}
	}
}

func TestSpansOfSkipsAndCooldowns(t *testing.T) {
	s := watch(t)
	c := s.chain(config{}, failing("a", clichain.ReasonUsageLimit, usage{}), fine)
	for range 2 {
		_, err := c.Complete(t.Context(), question)
		require.NoError(t, err)
	}
	require.Equal(t, []string{
		root + " (clichain.cooldown a usage_limit)", run + "a !usage_limit", run + "b",
		root + " (clichain.skip a cooling_down)", run + "b",
	}, s.tree(t))
}

func TestAttributesOfSpans(t *testing.T) {
	s := watch(t)
	used := usage{
		InputTokens: 11, OutputTokens: 7, CacheReadTokens: 5, CacheWriteTokens: 3, ReasoningTokens: 2, CostUSD: new(0.25),
	}
	failed := usage{InputTokens: 100, CostUSD: new(0.5)}
	b := answering("b", response{Model: "m-2", Session: "b:1", Usage: used, Flags: []call.Flag{call.FlagTruncated}})
	req := question
	req.Model, req.Session = "m", "b:0"
	c := s.chain(config{Name: "front"}, failing("a", clichain.ReasonServerError, failed), b)
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, answer, resp.Text)
	require.Equal(t, map[string]any{
		"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "front", "gen_ai.request.model": "m",
		"gen_ai.response.model": "m-2", "gen_ai.conversation.id": "b:1",
		"gen_ai.usage.input_tokens": int64(111), "gen_ai.usage.output_tokens": int64(7),
		"gen_ai.usage.reasoning.output_tokens": int64(2),
		"gen_ai.usage.cache_read.input_tokens": int64(5), "gen_ai.usage.cache_creation.input_tokens": int64(3),
		"clichain.access": "none", "clichain.answered_by": "b", "clichain.attempts": int64(2), "clichain.fallbacks": int64(1),
		"clichain.cost_usd": 0.75, "clichain.flags": []string{"truncated"},
	}, s.attributes(t, "invoke_workflow front"))
	require.Equal(t, map[string]any{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "b", "gen_ai.request.model": "m",
		"gen_ai.response.model": "m-2", "gen_ai.conversation.id": "b:1",
		"gen_ai.usage.input_tokens": int64(11), "gen_ai.usage.output_tokens": int64(7),
		"gen_ai.usage.reasoning.output_tokens": int64(2),
		"gen_ai.usage.cache_read.input_tokens": int64(5), "gen_ai.usage.cache_creation.input_tokens": int64(3),
		"clichain.cost_usd": 0.25,
	}, s.attributes(t, "invoke_agent b"))
	require.Equal(t, map[string]any{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a", "gen_ai.request.model": "m",
		"gen_ai.usage.input_tokens": int64(100), "clichain.cost_usd": 0.5, "error.type": "server_error",
	}, s.attributes(t, "invoke_agent a"))
}

// Each backend is reported once, however the chains are nested.
func TestSpansOfNestedChains(t *testing.T) {
	clitest.NoLeaks(t)
	for name, test := range map[string]struct {
		backend func(*seen) clichain.Backend
		want    []string
	}{
		"chains with the same hooks": {
			func(s *seen) clichain.Backend {
				return s.plainChain(config{Name: "in"}, fine)
			},
			[]string{root, run + "b"},
		},
		"wrapped": {
			func(s *seen) clichain.Backend {
				return s.chain(config{Name: "in"}, fine)
			},
			[]string{root, run + "in", run + "b"},
		},
		"chain hidden in a function": {
			func(s *seen) clichain.Backend {
				return clichain.BackendFunc("hidden", s.chain(config{Name: "in"}, fine).Complete)
			},
			[]string{root, run + "hidden", root + " > invoke_workflow in", root + " > invoke_workflow in > invoke_agent b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := watch(t)
			_, err := s.chain(config{}, test.backend(s)).Complete(t.Context(), question)
			require.NoError(t, err)
			require.Equal(t, test.want, s.tree(t))
		})
	}
}

func TestSpansEndWhenReaderStops(t *testing.T) {
	clitest.NoLeaks(t)
	s := watch(t)
	for range s.chain(config{}, fine).Stream(t.Context(), question) {
		break
	}
	require.Equal(t, []string{root + " !canceled", run + "b !canceled"}, s.tree(t))
	s = watch(t)
	for e := range s.chain(config{}, fine).Stream(t.Context(), question) {
		if e.Kind == clichain.EventDone {
			break // after the answer
		}
	}
	require.Equal(t, []string{root, run + "b"}, s.tree(t))
}

func TestSpansEndAfterPanic(t *testing.T) {
	clitest.NoLeaks(t)
	bad := clichain.BackendFunc("bad", func(context.Context, clichain.Request) (*clichain.Response, error) {
		panic(prompt)
	})
	for kind, stream := range map[string]bool{"complete": false, "stream": true} {
		t.Run(kind, func(t *testing.T) {
			s := watch(t)
			require.PanicsWithValue(t, prompt, func() { _, _ = ask(t, s.chain(config{}, bad), stream, question) })
			require.Equal(t, []string{root + " !_OTHER", run + "bad !canceled"}, s.tree(t))
		})
	}
	s := watch(t)
	require.PanicsWithValue(t, "reader", func() {
		for range s.chain(config{}, fine).Stream(t.Context(), question) {
			panic("reader")
		}
	})
	require.Equal(t, []string{root + " !_OTHER", run + "b !canceled"}, s.tree(t))
}

// streaming is a backend of a user-defined type.
type streaming struct {
	events []clichain.Event
	err    error
}

func (*streaming) Name() string { return "own" }

func (b *streaming) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(b.Stream(ctx, req))
}

func (b *streaming) Stream(context.Context, clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		for _, e := range b.events {
			if !yield(e, nil) {
				return
			}
		}
		if b.err != nil {
			yield(clichain.Event{}, b.err)
		}
	}
}

// A retry inside a backend is a separate attempt, but not a fallback.
func TestSpansOfRetries(t *testing.T) {
	s := watch(t)
	attempt := &clichain.Attempt{Backend: "own", Reason: clichain.ReasonNetwork, Err: errors.New(prompt)}
	own := &streaming{events: []clichain.Event{
		{Kind: clichain.EventStart, Backend: "own"}, {Kind: clichain.EventSession, Backend: "own", Model: "m-1"},
		{Kind: clichain.EventAttempt, Backend: "own", Attempt: attempt},
		{Kind: clichain.EventStart, Backend: "own"}, {Kind: clichain.EventText, Backend: "own", Text: answer},
		{Kind: clichain.EventDone, Response: &response{Text: answer}},
	}}
	_, err := s.chain(config{}, own).Complete(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, []string{
		root, run + "own !network", run + "own",
	}, s.tree(t))
	require.Equal(t, int64(0), s.attributes(t, root)["clichain.fallbacks"])
	require.Equal(t, "m-1", attributeOf(s.spans.Ended()[0].Attributes(), "gen_ai.response.model"))
}

// A backend that is not a chain counts as one attempt.
func TestSpansOfBackendWithoutHooks(t *testing.T) {
	clitest.NoLeaks(t)
	lumen := clichain.CliSpec{Name: "lumen", Binary: "lumen"}
	missing := clichain.NewProvider(lumen, &clichain.Config{Binary: "/nonexistent/lumen"})
	for name, test := range map[string]struct {
		backend clichain.Backend
		want    []string
	}{
		"an answer": {fine, []string{"invoke_workflow b",
			"invoke_workflow b > invoke_agent b",
		}},
		"a failure": {failing("a", clichain.ReasonEmpty, usage{}), []string{"invoke_workflow a !empty",
			"invoke_workflow a > invoke_agent a !empty",
		}},
		"no outcome": {&streaming{}, []string{"invoke_workflow own !bad_output",
			"invoke_workflow own > invoke_agent own !bad_output",
		}},
		"not there": {missing, []string{"invoke_workflow lumen !not_installed (clichain.skip lumen not_installed)"}},
	} {
		for kind, stream := range map[string]bool{"complete": false, "stream": true} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Setenv("SKIP_CLI", "")
				s := watch(t)
				_, _ = ask(t, s.Backend(test.backend), stream, question)
				require.Equal(t, test.want, s.tree(t))
			})
		}
	}
}
