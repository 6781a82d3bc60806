package failover

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
)

// No attempt starts with less than its minimum, and the sum of all attempts never exceeds the total.
func TestBudgetSplits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		start := time.Unix(1_700_000_000, 0)
		total := time.Duration(random.Int64N(int64(2 * time.Minute)))
		limit, minAttempt := total+1, time.Duration(random.Int64N(int64(10*time.Second)))
		if random.IntN(3) == 0 {
			minAttempt = 0
		}
		b := newBudget(t.Context(), start, limit, minAttempt)
		backends := 1 + random.IntN(8)
		now, sum, asked := start, time.Duration(0), 0
		for i := range backends {
			if b.over(now) || b.lacks(now, asked == 0) {
				continue
			}
			later := backends - 1 - i
			d, bounded := b.slice(now, later)
			require.True(t, bounded)
			require.GreaterOrEqual(t, d, b.least(), "backend %d of %d, %v", i, backends, total)
			if left := b.end.Sub(now); left >= b.minimum*time.Duration(1+min(later, 2)) {
				require.Equal(t, left-time.Duration(min(later, 2))*b.minimum, d)
			}
			used := d // all of it, or part of it
			if random.IntN(3) == 0 {
				used = time.Duration(random.Int64N(int64(d) + 1))
			}
			now, sum, asked = now.Add(used), sum+used, asked+1
		}
		require.Equal(t, minAttempt <= limit, asked > 0, "%v of %v", minAttempt, total)
		require.LessOrEqual(t, sum, limit)
	}
}

func TestBudgetAndCallerDeadline(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	ctx, cancel := context.WithDeadline(t.Context(), now.Add(time.Minute))
	defer cancel()
	for name, test := range map[string]struct {
		ctx    context.Context
		budget time.Duration
		want   time.Duration
	}{
		"none":                  {t.Context(), 0, 0},
		"the chain's":           {t.Context(), 10 * time.Second, 10 * time.Second},
		"the caller's":          {ctx, 0, 58 * time.Second},
		"the chain's is longer": {ctx, time.Hour, 58 * time.Second},
		"the chain's is first":  {ctx, 3 * time.Second, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			got, bounded := newBudget(test.ctx, now, test.budget, 0).slice(now, 0)
			require.Equal(t, test.want, got)
			require.Equal(t, test.want > 0, bounded)
		})
	}
	end := now.Add(time.Minute)
	view := chainview.With(ctx, chainview.View{Deadline: end, KillAt: end.Add(time.Second)})
	inner := newBudget(view, now, 0, 0)
	require.Equal(t, []time.Time{end, end.Add(time.Second)}, []time.Time{inner.end, inner.killAt}, "the margin is subtracted only once")
	late, stop := context.WithDeadline(t.Context(), now.Add(-time.Second))
	defer stop()
	got, bounded := newBudget(late, now, 0, 0).slice(now, 3)
	require.Zero(t, got)
	require.True(t, bounded)
}

// If the caller's context ends before a backend's own time, the error shows how: a deadline is no cancellation,
// even on a machine so slow that the deadline comes first.
func TestSliceReportsEndOfCallerContext(t *testing.T) {
	mine := errors.New("mine")
	for name, test := range map[string]struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithDeadlineCause(ctx, time.Now(), mine)
		}, context.DeadlineExceeded},
		"cancel": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(mine)
			return ctx, func() {}
		}, context.Canceled},
	} {
		for _, outer := range []chainview.View{{}, {Deadline: time.Now()}} {
			t.Run(fmt.Sprintf("%s, in a chain %v", name, !outer.Deadline.IsZero()), func(t *testing.T) {
				ctx, cancel := test.end(t.Context())
				defer cancel()
				later := time.Now().Add(time.Minute)
				l := &Loop{
					Caller: ctx, ctx: ctx, Outer: outer, order: make([]*contender, 1), budget: budget{end: later, killAt: later},
				}
				_, part, stop := l.slice(ctx, 0)
				defer stop()
				<-part.Done()
				end := judge.End(part)
				require.ErrorIs(t, end, mine)
				for _, err := range []error{context.DeadlineExceeded, context.Canceled} {
					require.Equal(t, err == test.want, errors.Is(end, err), "%v", err)
				}
				if outer.Deadline.IsZero() {
					require.Equal(t, test.want, part.Err())
				}
			})
		}
	}
}
