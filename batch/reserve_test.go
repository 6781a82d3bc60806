package batch

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/quota"
)

// planned is a backend whose plan has one window, of which each answer uses a share.
type planned struct {
	wrapper
	length time.Duration
	share  float64

	mu     sync.Mutex
	resets time.Time
	used   []float64 // of each window
}

func (p *planned) Available(context.Context) error { return nil }

func (p *planned) Stream(context.Context, clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if now := time.Now(); !now.Before(p.resets) {
			p.resets, p.used = now.Add(p.length), append(p.used, 0)
		}
		used := &p.used[len(p.used)-1]
		*used += p.share
		w := call.QuotaWindow{Name: "w", Used: new(*used), ResetsAt: p.resets, ObservedAt: time.Now()}
		yield(clichain.Event{Kind: clichain.EventDone, Response: &clichain.Response{
			Text: "ok", Backend: p.Name(), Quota: []call.QuotaWindow{w},
		}}, nil)
	})
}

// A batch leaves the reserve of a plan alone, except for one call of each slot, and waits for the reset.
func TestRunKeepsReserve(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, questions(8))
	plan := &planned{wrapper: wrapper{cfg.Backends[0]}, length: 2 * time.Second, share: 0.2}
	cfg.Backends = []clichain.Backend{plan}
	cfg.Chain = clichain.ChainConfig{Reserve: quota.Reserve{Share: 0.5}}
	var waited atomic.Bool
	cfg.Progress = func(c Counts) {
		if c.Rest.After(time.Now()) {
			waited.Store(true)
		}
	}
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, s.Stopped)
	require.Equal(t, 8, s.Answered)
	require.True(t, waited.Load())
	require.Greater(t, len(plan.used), 1)
	for _, used := range plan.used {
		require.Less(t, used, 1-cfg.Chain.Reserve.Share+float64(cfg.Jobs)*plan.share)
	}
}

// A batch whose only other backend needs an operator waits for a reserved one.
func TestRunWaitsForReservedBackend(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, questions(3))
	plan := &planned{wrapper: wrapper{cfg.Backends[0]}, length: time.Second, share: 0.6}
	loggedOut := clichain.BackendFunc("out", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, clichain.ErrUnauthenticated
	})
	cfg.Backends = []clichain.Backend{loggedOut, plan}
	cfg.Chain = clichain.ChainConfig{Reserve: quota.Reserve{Share: 0.5}}
	cfg.Jobs = 1
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, s.Stopped)
	require.Equal(t, 3, s.Answered)
}
