package cooling

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

type fakeCall struct{ timeout time.Duration }

func (fakeCall) Name() string                { return "a" }
func (fakeCall) Key() (string, bool)         { return "a", true }
func (fakeCall) Scope(cooldown.Scope) string { return "" }
func (fakeCall) Request() *call.Request      { return nil }
func (c fakeCall) Timeout() time.Duration    { return c.timeout }

// A probe ends with its call, so that another call need not wait for a timeout that the first never had.
func TestProbeEndsWithItsCall(t *testing.T) {
	for name, test := range map[string]struct{ timeout, deadline, want time.Duration }{
		"no deadline":           {time.Minute, 0, time.Minute + probeGrace},
		"deadline is earlier":   {time.Minute, 10 * time.Second, 10*time.Second + probeGrace},
		"deadline is later":     {time.Minute, time.Hour, time.Minute + probeGrace},
		"deadline is over":      {time.Minute, -time.Second, probeGrace},
		"no timeout":            {-1, 0, longestProbe + probeGrace},
		"no timeout, deadline":  {-1, 10 * time.Second, 10*time.Second + probeGrace},
		"timeout of many hours": {100 * time.Hour, 0, longestProbe + probeGrace},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.deadline != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				require.Equal(t, test.want, probeTime(ctx, fakeCall{test.timeout}))
			})
		})
	}
}
