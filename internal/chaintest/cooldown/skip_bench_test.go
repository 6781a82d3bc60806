package cooldown_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/norace"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/specs"
)

// restingAll returns a chain of all built-in specs, each in cooldown after a failure with that reason, as recorded in
// the shared file.
func restingAll(tb testing.TB, reason clichain.Reason) *clichain.Chain {
	bin := tb.TempDir()
	var backends []clichain.Backend
	store := cooldown.NewFile(filepath.Join(tb.TempDir(), "cooldowns.json"), func(err error) { tb.Error(err) })
	rest := cooldown.State{Reason: reason, Failures: 1, At: time.Now().UTC().Round(0)}
	rest.Until = rest.At.Add(time.Hour)
	for _, spec := range specs.All() {
		program := filepath.Join(bin, spec.Binary)
		require.NoError(tb, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700))
		p := clichain.NewProvider(spec, &clichain.Config{Binary: program})
		rest.Scope = chaintest.ScopeOf(reason, p)
		require.NoError(tb, store.Update(tb.Context(), chaintest.CooldownKey(p, ""), chaintest.Put(rest)))
		backends = append(backends, p)
	}
	return clichain.ChainOf(backends, &clichain.ChainConfig{Store: store})
}

// Skipping five backends in cooldown takes less than 5 ms each, including the shared file and all files of their
// logins. With the race detector it may take ten times as long.
func TestSkippingTakesNoTime(t *testing.T) {
	for _, reason := range []clichain.Reason{clichain.ReasonUsageLimit, clichain.ReasonUnauthenticated} {
		c := restingAll(t, reason)
		best := time.Hour // a busy machine sometimes takes longer
		for range 20 {
			start := time.Now()
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			best = min(best, time.Since(start))
			require.Equal(t, clichain.ReasonCoolingDown, chaintest.RequireReason(t, clichain.ReasonCoolingDown, err).Reason)
		}
		limit := 5 * 5 * time.Millisecond
		if norace.Race {
			limit *= 10
		}
		testtime.Took(t, best, limit, string(reason))
		t.Logf("%s: %v", reason, best/5)
	}
}

// BenchmarkSkip measures one call of a chain of five that are all in cooldown.
func BenchmarkSkip(b *testing.B) {
	for _, variable := range chaintest.Suppressors {
		b.Setenv(variable, "")
	}
	for _, reason := range []clichain.Reason{clichain.ReasonUsageLimit, clichain.ReasonUnauthenticated} {
		b.Run(string(reason), func(b *testing.B) {
			c := restingAll(b, reason)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Complete(context.Background(), clichain.Prompt("hi")); err == nil {
					b.Fatal("it was answered")
				}
			}
		})
	}
}
