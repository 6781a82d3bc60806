package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/runs"
)

// A turn that ends before its message was written has no answer, even if the CLI reads the message later and
// answers.
func turnWithUndeliveredMessage(t *testing.T, dialect string) {
	s := startedBeside(t, dialect, "", patient, nil)
	_, err := s.Ask(t.Context(), "pause now")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err = s.Ask(ctx, "say "+strings.Repeat("a line of a long prompt\n", 20_000))
	requireReason(t, clichain.ReasonTimeout, err)
}

// A CLI that ignores signals does not see the end of its input before it is killed.
func sessionEndKeepsInputOpen(t *testing.T, dialect string) {
	var registry runs.Registry
	cfg := patient
	cfg.Registry = &registry
	p := agentOf(t, dialect, "deaf", cfg)
	s := live.New(p, nil)
	t.Cleanup(s.Kill)
	require.NoError(t, s.Start(runs.WithKey(t.Context(), dialect, "")))
	require.Equal(t, 1, registry.KillAll(dialect))
	require.NoFileExists(t, p.Config().Binary+".end")
}
