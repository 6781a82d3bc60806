package failover_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// story formats a stream as one line per event.
func story(t *testing.T, events func(func(clichain.Event, error) bool)) (lines []string, err error) {
	t.Helper()
	for e, streamErr := range events {
		if streamErr != nil {
			return lines, streamErr
		}
		line := string(e.Kind)
		switch {
		case e.Attempt != nil:
			line += " " + e.Attempt.Backend + " " + string(e.Attempt.Reason)
		case e.Response != nil:
			line += " " + e.Response.Text
		case e.Text != "":
			line += " " + e.Text
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// A reader that can discard text gets the next backend's text after a reset.
func TestAcceptReset(t *testing.T) {
	t.Parallel()
	first, skipped := chaintest.Failing("a", clichain.ReasonExit), chaintest.Failing("b", clichain.ReasonUnsupported)
	first.Text = "half an ans"
	next := &chaintest.Backend{ID: "c", Text: "whole"}
	list := []clichain.Backend{first, skipped, next}
	want := []string{
		"start", "delta half an ans", "attempt a exit", "start", "attempt b unsupported",
		"start", "reset", "delta whole", "done from c",
	}

	lines, err := story(t, clichain.ChainOf(list, &clichain.ChainConfig{AcceptReset: true}).Stream(t.Context(), clichain.Prompt("hi")))
	require.NoError(t, err)
	require.Equal(t, want, lines)

	lines, err = story(t, clichain.ChainOf(list, nil).Stream(t.Context(), clichain.Prompt("hi")))
	require.ErrorIs(t, err, clichain.ErrExit)
	require.Equal(t, want[:3], lines)

	t.Run("no backend takes over", func(t *testing.T) {
		lines, err := story(t, clichain.ChainOf(list[:2], &clichain.ChainConfig{AcceptReset: true}).Stream(t.Context(), clichain.Prompt("hi")))
		require.ErrorIs(t, err, clichain.ErrUnsupported)
		require.Equal(t, want[:5], lines, "the text stays")
	})
	t.Run("in a chain that accepts resets", func(t *testing.T) {
		outer := clichain.ChainOf([]clichain.Backend{clichain.ChainOf(list, nil)}, &clichain.ChainConfig{AcceptReset: true})
		lines, err := story(t, outer.Stream(t.Context(), clichain.Prompt("hi")))
		require.NoError(t, err)
		require.Equal(t, want, lines)
	})
	t.Run("Complete reads no text", func(t *testing.T) {
		inner := clichain.ChainOf(list, nil)
		for _, c := range []*clichain.Chain{inner, clichain.ChainOf([]clichain.Backend{inner}, nil)} {
			resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, "from c", resp.Text)
		}
	})
}

// Every run and every failure is an event, also the retry of a backend.
func TestAttemptsAreEvents(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	overloaded := chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(`{"type":"turn.failed","error":{"message":"server overloaded"}}`+"\n"), clitest.Exit(1))
	c := clichain.ChainOf([]clichain.Backend{
		clichain.NewProvider(specs.Gemini(), &clichain.Config{Binary: "/nonexistent/gemini"}),
		chaintest.Provider(t, specs.Codex(), clichain.Config{}, overloaded),
		&chaintest.Backend{ID: "c"},
	}, nil)
	lines, err := story(t, c.Stream(t.Context(), clichain.Prompt("hi")))
	require.NoError(t, err)
	require.Equal(t, []string{
		"attempt gemini not_installed",
		"start", "error", "attempt codex overloaded",
		"start", "error", "attempt codex overloaded",
		"start", "text from c", "done from c",
	}, lines)
}

func TestLeavingAChainsStreamStopsIt(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	next := &chaintest.Backend{ID: "next"}
	c := clichain.ChainOf([]clichain.Backend{
		chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(`{"type":"thread.started","thread_id":"t"}`+"\n"), clitest.Step{Hang: true})), next,
	}, nil)
	events := c.Stream(t.Context(), clichain.Prompt("hi"))
	for e := range events {
		if e.Kind == clichain.EventSession {
			break
		}
	}
	require.Zero(t, next.Asked)
	_, err := call.Collect(events)
	require.ErrorContains(t, err, "only once")
}

// A stream that breaks off without text is retried in another output mode.
func TestStreamFallback(t *testing.T) {
	t.Parallel()
	begun := clitest.Case{Once: true, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.Init1 + "\n")}}
	whole := []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.ResultLine("whole") + "\n")}
	run := func(t *testing.T, cfg clichain.Config, req clichain.Request, s clitest.Scenario) (*clichain.Response, error) {
		clitest.NoLeaks(t)
		return chaintest.Provider(t, specs.Claude(), cfg, s).Complete(context.WithoutCancel(t.Context()), req)
	}
	t.Run("answers", func(t *testing.T) {
		resp, err := run(t, clichain.Config{}, clichain.Prompt("hi"), clitest.Scenario{Cases: []clitest.Case{
			begun, {Args: []string{"-p", "--output-format", "json"}, Steps: whole},
		}, Steps: []clitest.Step{clitest.Exit(9)}})
		require.NoError(t, err)
		require.Equal(t, "whole", resp.Text)
		require.Equal(t, []call.Flag{call.FlagStreamFallback}, resp.Flags)
		require.Len(t, resp.Attempts, 1)
		require.Equal(t, clichain.ReasonBadOutput, resp.Attempts[0].Reason)
	})
	t.Run("not if the caller requires a stream", func(t *testing.T) {
		_, err := run(t, clichain.Config{Output: clispec.OutputStream}, clichain.Prompt("hi"), clitest.Scenario{Cases: []clitest.Case{begun}, Steps: whole})
		chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
	})
	t.Run("not after a tool with write access", func(t *testing.T) {
		req := clichain.Prompt("hi")
		req.Access = clichain.AccessWrite
		begun := clitest.Case{Once: true, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.Init1 + "\n" + chaintest.ToolUse + "\n")}}
		_, err := run(t, clichain.Config{}, req, clitest.Scenario{Cases: []clitest.Case{begun}, Steps: whole})
		require.True(t, chaintest.RequireReason(t, clichain.ReasonBadOutput, err).SideEffects)
	})
	t.Run("not for output that is no stream", func(t *testing.T) {
		help := clitest.Case{Once: true, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout("Usage: claude\n")}}
		_, err := run(t, clichain.Config{}, clichain.Prompt("hi"), clitest.Scenario{Cases: []clitest.Case{help}, Steps: whole})
		chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
	})
}

// A run with write access is retried only if the policy allows it, and the error reports that.
func TestReplay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		replay   clichain.ReplayPolicy
		access   clichain.Access
		changed  bool
		goesOn   bool
		mentions string
	}{
		"nothing was changed":            {"", clichain.AccessWrite, false, true, ""},
		"something may have been":        {"", clichain.AccessWrite, true, false, "a may have used a tool"},
		"the same, by name":              {clichain.ReplayIfIdempotent, clichain.AccessFull, true, false, "a may have used a tool"},
		"always":                         {clichain.ReplayAlways, clichain.AccessFull, true, true, ""},
		"never":                          {clichain.ReplayNever, clichain.AccessWrite, false, false, "a had begun"},
		"never, but it cannot do harm":   {clichain.ReplayNever, clichain.AccessRead, false, true, ""},
		"never, but it was not started":  {clichain.ReplayNever, clichain.AccessFull, false, true, "skip"},
		"never, and something was done":  {clichain.ReplayNever, clichain.AccessFull, true, false, "a may have used a tool"},
		"less access is always harmless": {"", clichain.AccessNone, false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			reason := clichain.ReasonEmpty
			if test.mentions == "skip" {
				reason = clichain.ReasonNotInstalled
			}
			first, next := chaintest.Failing("a", reason), &chaintest.Backend{ID: "b"}
			first.Err.(*clichain.BackendError).SideEffects = test.changed
			req := clichain.Prompt("hi")
			req.Access = test.access
			_, err := clichain.ChainOf([]clichain.Backend{first, next}, &clichain.ChainConfig{Replay: test.replay}).Complete(t.Context(), req)
			require.Equal(t, test.goesOn, err == nil)
			require.Equal(t, test.goesOn, next.Asked == 1)
			if !test.goesOn {
				require.ErrorContains(t, err, test.mentions)
			}
		})
	}
}

// The cost of failed attempts is counted, and can end a call.
func TestCost(t *testing.T) {
	t.Parallel()
	costly := func(name string, usd *float64) *chaintest.Backend {
		b := chaintest.Failing(name, clichain.ReasonEmpty)
		b.Err.(*clichain.BackendError).Usage = clichain.Usage{OutputTokens: 5, CostUSD: usd}
		return b
	}
	list := []clichain.Backend{costly("a", new(0.25)), costly("b", nil), costly("c", new(0.5)), &chaintest.Backend{ID: "d"}}
	resp, err := clichain.ChainOf(list, nil).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, clichain.Usage{OutputTokens: 15, CostUSD: new(0.75)}, resp.TotalUsage())

	_, err = clichain.ChainOf(list, &clichain.ChainConfig{MaxCostUSD: 0.5}).Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrBudgetSpent)
	require.ErrorContains(t, err, "0.7500 of 0.5000")

	resp, err = clichain.ChainOf(list[1:2], nil).Complete(t.Context(), clichain.Prompt("hi"))
	require.Error(t, err)
	require.Nil(t, resp)
	require.Nil(t, (&clichain.Response{Attempts: []clichain.Attempt{{}}}).TotalUsage().CostUSD, "unknown stays unknown")
}
