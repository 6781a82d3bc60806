package batch

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/jetstream"
)

// idsIn returns the ids of an output in the order of its records.
func idsIn(t *testing.T, text string) (ids []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		r, err := parseRecord([]byte(line))
		require.NoError(t, err)
		ids = append(ids, r.ID)
	}
	return ids
}

// held delays the answer to line 0 until release is called. began receives the prompt of each call that begins.
func held(cfg *Config) (began <-chan string, release func()) {
	calls, gate := make(chan string, 100), make(chan struct{})
	cfg.Wrap = func(b clichain.Backend) clichain.Backend {
		return clichain.BackendFunc("held", func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
			calls <- req.Messages[0].Content
			if req.Messages[0].Content == "ask 0" {
				select {
				case <-gate:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return b.Complete(ctx, req)
		})
	}
	return calls, func() { close(gate) }
}

// begun runs a batch in the background.
func begun(ctx context.Context, cfg *Config) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := Run(ctx, cfg)
		done <- err
	}()
	return done
}

func TestOrderedRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "stream"} {
		t.Run(name, func(t *testing.T) {
			cfg := batchOf(t, questions(6))
			began, release := held(cfg)
			cfg.Ordered = true
			var out bytes.Buffer
			if name == "stream" {
				cfg.Out, cfg.Stdout = disk.Stream, &out
			}
			done := begun(t.Context(), cfg)
			for range 6 {
				<-began
			}
			if name == "file" {
				require.Empty(t, mustRead(t, cfg.Out), "all wait for the first")
			}
			release()
			require.NoError(t, <-done)
			if name == "file" {
				out.Write(mustRead(t, cfg.Out))
			}
			require.Equal(t, []string{"0", "1", "2", "3", "4", "5"}, idsIn(t, out.String()))
		})
	}
}

// When an ordered run ends, some results still wait for earlier lines. Their answers were paid for. The queue keeps
// them if the output is a file. A stream receives them at the end.
func TestOrderedRunStoppedEarly(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "stream"} {
		t.Run(name, func(t *testing.T) {
			cfg := batchOf(t, questions(4))
			began, _ := held(cfg)
			cfg.Ordered = true
			var out bytes.Buffer
			if name == "stream" {
				cfg.Out, cfg.Stdout = disk.Stream, &out
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := begun(ctx, cfg)
			for range 4 {
				<-began // a free slot implies that the results before it were recorded
			}
			stop()
			require.NoError(t, <-done)
			if name == "stream" {
				ids := idsIn(t, out.String())
				require.True(t, slices.IsSorted(ids))
				require.GreaterOrEqual(t, len(ids), 2)
				return
			}
			require.Empty(t, mustRead(t, cfg.Out))
			began, release := held(cfg)
			release()
			require.Equal(t, 4, again(t, cfg, questions(4)).Answered)
			require.LessOrEqual(t, len(began), 2, "the lines 0 and 3 at most")
			require.Equal(t, []string{"0", "1", "2", "3"}, idsIn(t, string(mustRead(t, cfg.Out))))
		})
	}
}

// The output has the order of the input after a resumed run, after a retry of failed lines, and after a run with
// another order.
func TestOrderedRunAfterOtherRuns(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, "")
	require.NoError(t, os.WriteFile(cfg.Out, []byte(third+second+first), 0o600))
	cfg.Ordered, cfg.RetryFailed, cfg.RetrySideEffects = true, true, true
	again(t, cfg, question("c")+question("new")+question("b")+question("a"))
	require.Equal(t, []string{"c", "new", "b", "a"}, idsIn(t, string(mustRead(t, cfg.Out))))
	again(t, cfg, question("a")+question("b")+question("c"))
	require.Equal(t, []string{"a", "b", "c", "new"}, idsIn(t, string(mustRead(t, cfg.Out))), "what the input has no more comes last")
}

// A rejected line and a failed line do not delay later lines.
func TestOrderedRunSkipsRejectedLine(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, question("a")+"{}\n"+question("a")+question("b"))
	cfg.Ordered = true
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, []int{2, 2}, []int{s.Answered, s.Bad})
	require.Equal(t, []string{"a", "b"}, idsIn(t, string(mustRead(t, cfg.Out))))
}

// Answers that wait for earlier lines count toward the cost limit.
func TestOrderedRunStopsAtCostLimit(t *testing.T) {
	t.Parallel()
	var cause error
	r := newRecorder(&Config{MaxCostUSD: 0.01, Ordered: true})
	r.queue, r.costReached = &queue{scope: "batch"}, func() { cause = ErrCost }
	r.order.add("a")
	r.order.add("b")
	r.ids.wait("b", Digest{})
	cost := 0.02
	b := jetstream.Result{ID: "batch.b", Response: &clichain.Response{Text: "x", Usage: clichain.Usage{CostUSD: &cost}}}
	require.NoError(t, r.record(&b))
	require.ErrorIs(t, cause, ErrCost)
	require.NoError(t, r.record(&b))
	require.InDelta(t, cost, r.tally.now().CostUSD, 1e-9, "once")
}
