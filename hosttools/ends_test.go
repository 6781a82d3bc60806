package hosttools_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/hosttools"
	"github.com/stretchr/testify/require"
)

// The context of a function ends with the call of the backend, whatever ends it.
func TestFunctionEndsWithCall(t *testing.T) {
	for name, end := range map[string]func(cancel func(), stop func()){
		"context":    func(cancel, _ func()) { cancel() },
		"the reader": func(_, stop func()) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began, ended := make(chan struct{}), make(chan struct{})
			wait := hosttools.Func("wait", "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
				close(began)
				<-ctx.Done()
				close(ended)
				return "", ctx.Err()
			})
			stopped := false
			go func() { <-began; end(cancel, func() {}) }()
			for e := range hosttools.With(player(t, "p", clichain.Config{Timeout: time.Minute}), wait).Stream(ctx, one(t, "wait", struct{}{})) {
				if name == "the reader" && e.Kind == clichain.EventStart {
					<-began
					stopped = true
					break
				}
			}
			require.Equal(t, name == "the reader", stopped)
			select {
			case <-ended:
			default:
				t.Fatal("the call ended before its function")
			}
		})
	}
}

// A CLI dies while its model waits for a function. The function has ended before the next backend starts.
func TestFunctionEndsWithCLI(t *testing.T) {
	clitest.NoLeaks(t)
	ended := make(chan struct{})
	var calls atomic.Int32
	kill := hosttools.Func("kill", "Kills the first CLI.", func(ctx context.Context, in process) (string, error) {
		if calls.Add(1) > 1 {
			select {
			case <-ended:
				return "ended", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		cli, err := os.FindProcess(in.PID)
		if err == nil {
			err = cli.Kill()
		}
		<-ctx.Done()
		close(ended)
		return "", err
	})
	kill.ReadOnly = true
	chain := clichain.ChainOf([]clichain.Backend{player(t, "p", clichain.Config{}), player(t, "q", clichain.Config{})}, nil)
	resp, err := hosttools.With(chain, kill).Complete(t.Context(), one(t, "kill", ownPID))
	require.NoError(t, err)
	require.Equal(t, "ok: ended", resp.Text)
	require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrKilled)
}

func TestFunctionHasDefaultTime(t *testing.T) {
	left := hosttools.Func("left", "Returns the time that is left.", func(ctx context.Context, _ struct{}) (string, error) {
		deadline, ok := ctx.Deadline()
		return fmt.Sprint(ok && time.Until(deadline) <= 50*time.Second && time.Until(deadline) > 0), nil
	})
	p := player(t, "p", clichain.Config{Timeout: time.Hour})
	resp, err := hosttools.With(p, left).Complete(t.Context(), one(t, "left", struct{}{}))
	require.NoError(t, err)
	require.Equal(t, "ok: true", resp.Text)
}
