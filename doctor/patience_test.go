package doctor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/judge"
)

// The bound is the initial one on a fast machine. It grows with the latency of the answers, up to a limit.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers []time.Duration // after the start
		want    time.Duration
	}{
		{"no answer", nil, 4 * time.Second},
		{"quick answers", []time.Duration{time.Second, time.Second}, 4 * time.Second},
		{"one slow answer", []time.Duration{3 * time.Second}, 9 * time.Second},
		{"increasing latency", []time.Duration{3 * time.Second, 8 * time.Second}, 24 * time.Second},
		{"latency up to the limit", []time.Duration{3 * time.Second, 8 * time.Second, 20 * time.Second}, 32 * time.Second},
		{"answer after the bound", []time.Duration{5 * time.Second}, 4 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				ctx, p := newPatience(t.Context(), 4*time.Second)
				defer p.stop()
				for _, at := range test.answers {
					time.AfterFunc(at, p.answered)
				}
				<-ctx.Done()
				require.Equal(t, test.want, time.Since(start))
				require.Equal(t, test.want, p.bound())
				require.Equal(t, judge.Stop{Reason: "timeout", After: test.want}, *context.Cause(ctx).(*judge.Stop))
			})
		})
	}
}
