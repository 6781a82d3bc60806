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
				require.Zero(t, kill, "the caller has set no end")
			})
		})
	}
}
