package provider

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
)

// A run is asked to terminate at the timeout. A second attempt has the rest of the time of the first.
func TestAttemptsShareTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		timeout time.Duration
		used    time.Duration // by the first attempt
		want    time.Duration
	}{
		"the default":      {25 * time.Second, 0, 25 * time.Second},
		"a second attempt": {25 * time.Second, 10 * time.Second, 15 * time.Second},
		"an agent":         {600 * time.Second, 0, 600 * time.Second},
		"a minute":         {time.Minute, 0, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProvider(clispec.Spec{Name: "mini", Binary: "mini"})
				p.Settings.Timeout = test.timeout
				calls := attemptLoop{p: p, start: time.Now()}
				time.Sleep(test.used)
				began := time.Now()
				ctx, stop, kill := limited(t.Context(), calls.remaining())
				defer stop(nil)
				<-ctx.Done()
				require.Equal(t, test.want, time.Since(began))
				ended, ok := errors.AsType[*judge.Stop](context.Cause(ctx))
				require.True(t, ok)
				require.Equal(t, call.ReasonTimeout, ended.Reason)
				require.Equal(t, test.want, ended.After)
				require.Equal(t, max(500*time.Millisecond, min(test.want/10, 2*time.Second)), time.Until(kill))
			})
		})
	}
}

// A run that is asked to terminate at its timeout is killed soon after that, and at the latest at the end of
// the call.
func TestRunKillTime(t *testing.T) {
	for name, test := range map[string]struct {
		timeout, deadline time.Duration
		ask, kill         time.Duration // from now; 0: never
	}{
		"no limit":             {0, 0, 0, 0},
		"a short timeout":      {2 * time.Second, 0, 2 * time.Second, 2500 * time.Millisecond},
		"a remnant":            {time.Nanosecond, 0, time.Nanosecond, 500*time.Millisecond + time.Nanosecond},
		"the default":          {25 * time.Second, 0, 25 * time.Second, 27 * time.Second},
		"a tenth":              {10 * time.Second, 0, 10 * time.Second, 11 * time.Second},
		"a long one":           {time.Hour, 0, time.Hour, time.Hour + 2*time.Second},
		"deadline alone":       {0, 30 * time.Second, 28 * time.Second, 30 * time.Second},
		"deadline later":       {25 * time.Second, time.Minute, 25 * time.Second, 27 * time.Second},
		"deadline earlier":     {25 * time.Second, 10 * time.Second, 9 * time.Second, 10 * time.Second},
		"deadline in between":  {25 * time.Second, 26 * time.Second, 24 * time.Second, 26 * time.Second},
		"deadline a bit later": {25 * time.Second, 27500 * time.Millisecond, 25 * time.Second, 27 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				start := time.Now()
				ctx, stop, kill := limited(ctx, test.timeout)
				defer stop(nil)
				if test.kill == 0 {
					require.Zero(t, kill)
					return
				}
				require.Equal(t, test.kill, kill.Sub(start))
				<-ctx.Done()
				require.Equal(t, test.ask, time.Since(start))
			})
		})
	}
}

// The first call continues immediately and can wait for the end of the sweep. The function runs once.
func TestSweepRunsBesideFirstCall(t *testing.T) {
	proceed, did := make(chan struct{}), 0
	begin := beside(func() {
		select {
		case <-proceed:
		case <-time.After(time.Minute): // begin waits for this
		}
		did++
	})
	start := time.Now()
	first, second := begin(), begin()
	require.Less(t, time.Since(start), 30*time.Second)
	close(proceed)
	first()
	second()
	require.Equal(t, 1, did)
}
