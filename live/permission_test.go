package live_test

import (
	"context"
	"errors"
	"flag"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

var permissionRuns = flag.Int("permissions", 3, "how often TestOnPermissionIgnoresContext asks in each dialect")

// asking returns a session whose questions a function answers.
func asking(t *testing.T, dialect string, answer func(context.Context, live.Question) bool) *live.Session {
	t.Helper()
	return startedBeside(t, dialect, "", patient, &live.Config{
		Request: clichain.Request{Access: clichain.AccessWrite, Dir: t.TempDir()}, OnPermission: answer,
	})
}

// within fails a test that hangs. Its limit is 60 times the expected time.
func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		t.Fatal(what)
	}
}

func TestOnPermissionPanics(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func()
		want string
	}{
		"a panic":                {func() { panic("boom") }, "OnPermission panicked at permission_test.go:"},
		"a panic of the runtime": {func() { _ = (*struct{ n int })(nil).n }, "OnPermission panicked at permission_test.go:"},
		"Goexit":                 {runtime.Goexit, "OnPermission called runtime.Goexit"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, dialect string) {
				clitest.NoLeaks(t)
				s := asking(t, dialect, func(context.Context, live.Question) bool { test.end(); return true })
				var warned []string
				listening, ended := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(ended)
					for e := range s.Events() {
						switch e.Kind {
						case clichain.EventState:
							if e.Text == string(live.Running) {
								close(listening)
							}
						case clichain.EventWarning:
							warned = append(warned, e.Message)
						}
					}
				}()
				<-listening
				resp, err := s.Ask(t.Context(), "ask permit")
				require.NoError(t, err)
				_, answer, _ := strings.Cut(resp.Text, " ")
				require.JSONEq(t, `{"chosen":"no"}`, answer, "the question is denied")
				require.Len(t, resp.Warnings, 1)
				require.Contains(t, resp.Warnings[0], test.want)
				resp, err = s.Ask(t.Context(), "say on")
				require.NoError(t, err)
				require.Equal(t, "on", resp.Text)
				require.Empty(t, resp.Warnings)
				s.Stop()
				within(t, "the loop has not ended", ended)
				require.Len(t, warned, 1)
				require.Contains(t, warned[0], test.want)
			})
		})
	}
}

// The turn ends with its context, and its question is denied, even if the function ignores the context.
func TestOnPermissionIgnoresContext(t *testing.T) {
	t.Parallel()
	atOnce(t, func(t *testing.T, dialect string) {
		for range *permissionRuns {
			release, asked := make(chan struct{}), make(chan context.Context, 1)
			open := sync.OnceFunc(func() { close(release) })
			t.Cleanup(open)
			s := asking(t, dialect, func(ctx context.Context, _ live.Question) bool {
				asked <- ctx
				<-release
				return true
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			var err error
			go func() {
				defer close(ended)
				_, err = s.Ask(ctx, "ask permit")
			}()
			of := <-asked
			require.NoError(t, of.Err())
			cancel()
			within(t, "Ask hangs", ended)
			failed := requireReason(t, clichain.ReasonCanceled, err)
			require.ErrorIs(t, err, context.Canceled)
			require.NotContains(t, failed.Message, "chosen", "the model's text")
			require.EqualValues(t, 3, failed.Usage.InputTokens, "the usage of the turn is known")
			within(t, "the context has not ended", of.Done())
			if s.Status().State == live.Running { // the denial has ended the turn
				resp, err := s.Ask(t.Context(), "recall it")
				require.NoError(t, err)
				require.Equal(t, "ask permit|recall it", resp.Text)
			}
			stopped := make(chan struct{})
			go func() { defer close(stopped); s.Stop() }()
			within(t, "Stop hangs", stopped)
			open()
		}
	})
}

// The end of the turn or of the process ends the wait for the answer.
func TestOnPermissionWaitEndsWithTurn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		end  func(*live.Session)
		want live.State
	}{
		"interrupt":    {"ask permit", func(s *live.Session) { _ = s.Interrupt(context.Background()) }, live.Running},
		"stop":         {"ask permit", (*live.Session).Stop, live.Stopped},
		"kill":         {"ask permit", (*live.Session).Kill, live.Stopped},
		"the CLI dies": {"permit-and-die", func(*live.Session) {}, live.Error},
	} {
		t.Run(name, func(t *testing.T) {
			atOnce(t, func(t *testing.T, dialect string) {
				release, asked := make(chan struct{}), make(chan context.Context, 1)
				t.Cleanup(func() { close(release) })
				s := asking(t, dialect, func(ctx context.Context, _ live.Question) bool {
					asked <- ctx
					<-release
					return true
				})
				turn, err := s.Send(test.text)
				require.NoError(t, err)
				of := <-asked
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					test.end(s)
					_, err = turn.Wait(context.Background())
				}()
				within(t, "the turn has not ended", ended)
				within(t, "the context has not ended", of.Done())
				require.Error(t, err)
				require.Eventually(t, func() bool { return s.Status().State == test.want }, time.Minute, time.Millisecond)
			})
		})
	}
}

// A function that keeps its context observes the end of the context.
func TestOnPermissionContextEndsWithTurn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		clitest.NoLeaks(t)
		var of atomic.Value
		s := asking(t, dialect, func(ctx context.Context, _ live.Question) bool {
			of.Store(ctx)
			return ctx.Err() == nil
		})
		resp, err := s.Ask(t.Context(), "ask permit")
		require.NoError(t, err)
		require.Contains(t, resp.Text, `"yes"`)
		ctx := of.Load().(context.Context)
		require.True(t, errors.Is(ctx.Err(), context.Canceled), "%v", ctx.Err())
		require.Equal(t, live.Running, s.Status().State)
	})
}
