package clichain

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/judge"
)

// Without any setting a run is asked to end after 25 s, and a second try has what the first has left.
func TestTheDefaultTimeoutOnAClock(t *testing.T) {
	for name, test := range map[string]struct {
		cfg  *Config
		used time.Duration // by a first try
		want time.Duration
	}{
		"nothing is set":     {nil, 0, 25 * time.Second},
		"an empty Config":    {&Config{}, 0, 25 * time.Second},
		"a second try":       {&Config{}, 10 * time.Second, 15 * time.Second},
		"an agent":           {&Config{Agent: true}, 0, 600 * time.Second},
		"an agent in a rush": {&Config{Agent: true, Timeout: time.Minute}, 0, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := tries{p: NewProvider(CliSpec{Name: "mini", Binary: "mini"}, test.cfg), start: time.Now()}
				time.Sleep(test.used)
				began := time.Now()
				ctx, stop, kill := limited(t.Context(), calls.remaining())
				defer stop(nil)
				<-ctx.Done()
				require.Equal(t, test.want, time.Since(began))
				ended, ok := errors.AsType[*judge.Stop](context.Cause(ctx))
				require.True(t, ok)
				require.Equal(t, ReasonTimeout, ended.Reason)
				require.Equal(t, test.want, ended.After)
				require.Equal(t, max(500*time.Millisecond, min(test.want/10, 2*time.Second)), time.Until(kill))
			})
		})
	}
}

// A run that is asked to end at its timeout is killed soon after that, and by the end of the call at the latest.
func TestWhenARunIsKilled(t *testing.T) {
	for name, test := range map[string]struct {
		timeout, deadline time.Duration
		ask, kill         time.Duration // from now; 0: never
	}{
		"no bound":             {0, 0, 0, 0},
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
