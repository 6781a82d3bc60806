package doctor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/judge"
)

// The bound is the first one where the machine is quick, and grows with what its answers have taken, up to an end.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers []time.Duration // after the start
		want    time.Duration
	}{
		{"nothing answers", nil, 4 * time.Second},
		{"quick answers", []time.Duration{time.Second, time.Second}, 4 * time.Second},
		{"a slow one", []time.Duration{3 * time.Second}, 9 * time.Second},
		{"slower and slower", []time.Duration{3 * time.Second, 8 * time.Second}, 24 * time.Second},
		{"as slow as can be", []time.Duration{3 * time.Second, 8 * time.Second, 20 * time.Second}, 32 * time.Second},
		{"one that comes too late", []time.Duration{5 * time.Second}, 4 * time.Second},
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
