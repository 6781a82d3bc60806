package login

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// An answer of the status command is cached for a while, because nothing shows a change in a keychain. Missing
// answers are not cached.
func TestSettleCachesAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, sign := 0, clispec.StatusSign{Login: clispec.LoginAuthenticated}
		ask := func(context.Context, clispec.StatusRule) (clispec.StatusSign, error) {
			asked++
			return sign, nil
		}
		s := New(clispec.LoginRules{
			Ways:   []clispec.LoginWay{{Unsure: true}},
			Status: clispec.StatusRule{Args: []string{"status"}, Whole: true},
		})
		settle := func() Login {
			l := s.State("x", "", "", nil, func() map[string]string { return nil })
			require.True(t, s.Open(l))
			l, err := s.Settle(t.Context(), l, ask)
			require.NoError(t, err)
			return l
		}
		require.Equal(t, call.BillingUnknown, settle().Billing)
		sign.Billing = call.BillingSubscription
		for range 2 {
			require.Equal(t, call.BillingSubscription, settle().Billing)
		}
		require.Equal(t, 2, asked)
		time.Sleep(settledFor)
		sign.Billing = call.BillingAPIKey
		require.Equal(t, call.BillingAPIKey, settle().Billing)
		require.Equal(t, 3, asked)
	})
}

// A call that waits for the question of another call stops waiting when its own context ends.
func TestSettleWaitEndsWithContext(t *testing.T) {
	s := New(clispec.LoginRules{})
	leave, err := s.asking.Acquire(t.Context())
	require.NoError(t, err)
	defer leave()
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	_, err = s.Settle(ctx, Login{}, nil)
	require.ErrorIs(t, err, gone)
}
