package clichain

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// No split starves a later backend, and the sum of all never exceeds what
// there is.
func TestBudgetSplits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		start := time.Unix(1_700_000_000, 0)
		total := time.Duration(random.Int64N(int64(2 * time.Minute)))
		b := budget{end: start.Add(total), minimum: time.Duration(1 + random.Int64N(int64(10*time.Second)))}
		backends := 1 + random.IntN(8)
		now, sum := start, time.Duration(0)
		for i := range backends {
			d, bounded := b.slice(now, backends-1-i)
			require.True(t, bounded)
			require.GreaterOrEqual(t, d, min(b.minimum, total/time.Duration(backends)), "backend %d of %d, %v with a minimum of %v", i, backends, total, b.minimum)
			used := d // all of it, or some of it
			if random.IntN(3) == 0 {
				used = time.Duration(random.Int64N(int64(d) + 1))
			}
			now, sum = now.Add(used), sum+used
		}
		require.LessOrEqual(t, sum, total)
	}
}

func TestBudgetOfTheCaller(t *testing.T) {
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
			got, bounded := (&ChainConfig{Budget: test.budget}).newBudget(test.ctx, now, false).slice(now, 0)
			require.Equal(t, test.want, got)
			require.Equal(t, test.want > 0, bounded)
		})
	}
	inner, _ := (&ChainConfig{}).newBudget(ctx, now, true).slice(now, 0)
	require.Equal(t, time.Minute, inner, "the margin is taken once")
	late, stop := context.WithDeadline(t.Context(), now.Add(-time.Second))
	defer stop()
	got, bounded := (&ChainConfig{}).newBudget(late, now, false).slice(now, 3)
	require.Zero(t, got)
	require.True(t, bounded)
}
