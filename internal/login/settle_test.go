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

// What the status command said is kept for a while, as nothing shows a change in a keychain; what it did not say is not.
func TestSettledForAWhile(t *testing.T) {
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

// Who waits for another's question gives up with its own context.
func TestSettleWaitsNoLongerThanItsContext(t *testing.T) {
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
