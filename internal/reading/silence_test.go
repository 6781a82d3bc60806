package reading

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
)

// A run ends after the limit for the silence before or after its first output.
func TestSilence(t *testing.T) {
	const s = time.Second
	for _, test := range []struct {
		name        string
		first, idle time.Duration
		output      []time.Duration // the pause before each output
		after       time.Duration   // from the start to the end of the run; 0: it does not end
		reason      call.Reason
	}{
		{"no limits", 0, 0, []time.Duration{s, s}, 0, ""},
		{"no first output", 10 * s, 3 * s, nil, 10 * s, call.ReasonFirstOutputTimeout},
		{"no output, and no limit for the first", 0, 3 * s, nil, 3 * s, call.ReasonIdleTimeout},
		{"first output in time", 10 * s, 0, []time.Duration{9 * s}, 0, ""},
		{"silence after the first output", 10 * s, 3 * s, []time.Duration{5 * s}, 8 * s, call.ReasonIdleTimeout},
		{"silence after later output", 10 * s, 3 * s, []time.Duration{9 * s, 2 * s, 2 * s}, 16 * s, call.ReasonIdleTimeout},
		{"output in time, and no limit for the first", 0, 3 * s, []time.Duration{2 * s, 2 * s}, 7 * s, call.ReasonIdleTimeout},
	} {
		for _, ended := range []bool{false, true} {
			t.Run(test.name+map[bool]string{true: ", ended"}[ended], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					silence, start := Listen(test.first, test.idle, cancel), time.Now()
					out := silence.Over(io.Discard)
					for _, pause := range test.output {
						time.Sleep(pause) // fake time
						n, err := out.Write([]byte("x"))
						require.NoError(t, err)
						require.Equal(t, 1, n)
					}
					if ended {
						silence.End()
					}
					select {
					case <-ctx.Done():
					case <-time.After(time.Hour):
					}
					stop, _ := errors.AsType[*judge.Stop](context.Cause(ctx))
					if test.after == 0 || ended {
						require.Nil(t, stop)
						return
					}
					limit := map[call.Reason]time.Duration{call.ReasonFirstOutputTimeout: test.first, call.ReasonIdleTimeout: test.idle}
					require.Equal(t, &judge.Stop{Reason: test.reason, After: limit[test.reason]}, stop)
					require.Equal(t, test.after, time.Since(start))
				})
			})
		}
	}
}
