package batch

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/stretchr/testify/require"
)

// wrapper is a custom backend that wraps another backend. DryRun must not call it.
type wrapper struct{ clichain.Backend }

func (w wrapper) Unwrap() clichain.Backend { return w.Backend }

func (w wrapper) Stream(context.Context, clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) { yield(clichain.Event{}, errors.New("asked")) }
}

// unavailable is a custom backend that no request can reach.
type unavailable struct{ clichain.Backend }

func (unavailable) Available(context.Context) error {
	return call.Errorf(clichain.ReasonOverloaded, "", "down for maintenance")
}

func TestDryRunChecksCustomBackends(t *testing.T) {
	t.Parallel()
	missing := clichain.NewProvider(clichain.CliSpec{Name: "missing", Binary: "no-such-program"}, nil)
	answers := clichain.BackendFunc("answers", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, errors.New("asked")
	})
	cfg := batchOf(t, question("a"))
	cfg.Backends = []clichain.Backend{
		wrapper{missing}, unavailable{clichain.BackendFunc("down", nil)}, wrapper{answers},
	}
	p, err := DryRun(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, map[Skip]int{{"missing", clichain.ReasonNotInstalled}: 1, {"down", clichain.ReasonOverloaded}: 1}, p.Skips)
	require.Equal(t, map[string]int{"answers": 1}, p.First)
}

func TestDryRunCountsLinesThatNoBackendAnswers(t *testing.T) {
	t.Parallel()
	missing := clichain.NewProvider(clichain.CliSpec{Name: "missing", Binary: "no-such-program"}, nil)
	for name, test := range map[string]struct {
		backends []clichain.Backend
		reason   clichain.Reason
	}{
		"not installed": {[]clichain.Backend{missing}, clichain.ReasonNotInstalled},
		"same name":     {[]clichain.Backend{missing, missing}, clichain.ReasonBadOption},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := batchOf(t, question("a"))
			cfg.Backends = test.backends
			p, err := DryRun(t.Context(), cfg)
			require.NoError(t, err)
			require.Equal(t, map[clichain.Reason]int{test.reason: 1}, p.Nobody)
			require.Empty(t, p.First)
		})
	}
}
