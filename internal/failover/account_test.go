package failover

import (
	"context"
	"iter"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/order"
	"github.com/clichain/clichain/quota"
)

// described is a candidate that counts the descriptions of its calls.
type described struct {
	Candidate
	calls int
}

func (*described) Name() string                                { return "a" }
func (*described) Claims(string) bool                          { return false }
func (*described) CanServe(context.Context, call.Request) bool { return true }
func (*described) Observed() bool                              { return false }

func (d *described) Cooldown(req call.Request) cooling.Call {
	d.calls++
	return backend.NewCooldownCall("a", nil, req)
}

func (d *described) Stream(context.Context, call.Request) iter.Seq2[call.Event, error] {
	return func(yield func(call.Event, error) bool) {
		resp := &call.Response{Backend: "a", Text: "yes", Quota: []call.QuotaWindow{{Name: "w"}}}
		yield(call.Event{Kind: call.EventDone, Response: resp}, nil)
	}
}

// The order, the reserve, the cooldown and the report of a call share one description, because the key of the account
// takes time.
func TestCallIsDescribedOnce(t *testing.T) {
	a := new(described)
	store := cooldown.NewMemory()
	chain := Chain{
		Candidates: []Candidate{a}, Order: order.Headroom, Stats: NewStats([]Candidate{a}), Table: policy.Default,
		Cooldowns: &cooling.Keeper{
			Store: store, Quotas: store, Reserve: quota.Reserve{Share: 0.3}, Log: slog.New(slog.DiscardHandler),
		},
		Validate: func() func() { return func() {} },
	}
	for i := range 2 {
		l := &Loop{Chain: &chain, Caller: t.Context(), Req: call.Prompt("hi"), Emit: func(call.Event) bool { return true }}
		_, err := l.Run(0)
		require.Nil(t, err)
		require.Equal(t, i+1, a.calls)
	}
}
