package failover_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
)

// The end of the caller's context has the same effect in a Provider and in a Chain, however the caller has ended it.
func TestEndOfTheCallersContext(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	mine := errors.New("the user has left")
	for name, test := range map[string]struct {
		end    func(context.Context) (context.Context, context.CancelFunc)
		reason clichain.Reason
		want   []error
	}{
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 300*time.Millisecond)
		}, clichain.ReasonTimeout, []error{context.DeadlineExceeded, clichain.ErrTimeout}},
		"deadline with a cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, 300*time.Millisecond, mine)
		}, clichain.ReasonTimeout, []error{context.DeadlineExceeded, clichain.ErrTimeout}},
		"deadline with a cause that cannot be compared": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, 300*time.Millisecond, severalCauses{"mine"})
		}, clichain.ReasonTimeout, []error{context.DeadlineExceeded, clichain.ErrTimeout}},
		"deadline in the past": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithDeadline(ctx, time.Now().Add(-time.Second))
		}, clichain.ReasonTimeout, []error{context.DeadlineExceeded, clichain.ErrTimeout}},
		"past deadline with a cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithDeadlineCause(ctx, time.Now().Add(-time.Second), mine)
		}, clichain.ReasonTimeout, []error{context.DeadlineExceeded, clichain.ErrTimeout, mine}},
		"cancel": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithCancel(ctx)
		}, clichain.ReasonCanceled, []error{context.Canceled, clichain.ErrCanceled}},
		"cancel with a cause that cannot be compared": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			return ctx, func() { cancel(severalCauses{"mine"}) }
		}, clichain.ReasonCanceled, []error{context.Canceled, clichain.ErrCanceled}},
		"cancel with a cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			return ctx, func() { cancel(mine) }
		}, clichain.ReasonCanceled, []error{context.Canceled, clichain.ErrCanceled, mine}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, chains := range map[string]int{
				"provider": 0, "chain": 1, "chain in a chain": 2, "func": 0, "func in a chain": 1, "func in a chain in a chain": 2,
			} {
				started := filepath.Join(t.TempDir(), "started")
				b := clichain.BackendFunc("mini", func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
					require.NoError(t, os.WriteFile(started, []byte("{}"), 0o600))
					<-ctx.Done()
					return nil, ctx.Err()
				})
				if !strings.HasPrefix(kind, "func") {
					b = chaintest.Provider(t, clichain.CliSpec{Name: "mini", Binary: "mini"}, clichain.Config{},
						chaintest.Play(clitest.Step{Record: started}, clitest.Step{Hang: true}))
				}
				for range chains {
					b = clichain.ChainOf([]clichain.Backend{b}, nil)
				}
				ctx, cancel := test.end(t.Context())
				defer cancel()
				var err error
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, err = b.Complete(ctx, clichain.Prompt("hi"))
				}()
				if test.reason == clichain.ReasonCanceled {
					require.Eventually(t, func() bool { _, err := clitest.ReadRecord(started); return err == nil }, time.Minute, time.Millisecond)
					cancel()
				}
				<-done
				var chain *clichain.ChainError
				if errors.As(err, &chain) {
					require.Equal(t, test.reason, chain.Reason(), "%s: %v", kind, err)
				} else {
					chaintest.RequireReason(t, test.reason, err)
				}
				for _, want := range test.want {
					require.ErrorIs(t, err, want, "%s: %v", kind, err)
				}
				for _, other := range []error{context.DeadlineExceeded, context.Canceled} {
					require.Equal(t, other == test.want[0], errors.Is(err, other), "%s: %v: %v", kind, err, other)
				}
			}
		})
	}
}

// severalCauses is an error type that cannot be compared.
type severalCauses []string

func (s severalCauses) Error() string { return strings.Join(s, ", ") }
