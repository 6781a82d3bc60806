package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/runs"
)

// A CLI that dies in a turn ends the session in state Error, with the evidence of that turn.
func TestSessionEndsWhenCLIDiesInTurn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		for text, want := range map[string]clichain.Reason{"die": clichain.ReasonRateLimited, "cut": clichain.ReasonBadOutput} {
			t.Run(text, func(t *testing.T) {
				s := started(t, dialect, "", nil)
				turn, err := s.Send(text)
				require.NoError(t, err)
				later, err := s.Send("say never")
				require.NoError(t, err)
				_, err = turn.Wait(t.Context())
				failed := requireReason(t, want, err)
				_, err = later.Wait(t.Context())
				require.Error(t, err)
				for range s.Events() {
				}
				require.Equal(t, live.Error, s.Status().State)
				require.Error(t, s.Status().Err)
				_ = failed
			})
		}
	})
}

// If a CLI prints an answer before it is ready, and never becomes ready, there is no answer and no success.
func startRejectsAnswerBeforeRequest(t *testing.T, dialect string) {
	for manners, test := range map[string]struct {
		cfg  clichain.Config
		want clichain.Reason
	}{
		"early, silent":     {clichain.Config{Timeout: 2 * time.Second}, clichain.ReasonTimeout},
		"early, dies later": {patient, clichain.ReasonBadOutput},
	} {
		s := live.New(agentOf(t, dialect, manners, test.cfg), nil)
		t.Cleanup(s.Kill)
		requireReason(t, test.want, s.Start(t.Context()))
		require.Equal(t, live.Error, s.Status().State)
	}
}

// A turn has the timeout of a call. If the CLI ends the interrupted turn in time, the session continues;
// otherwise the session ends.
func turnTimeout(t *testing.T, dialect string) {
	s := startedBeside(t, dialect, "", clichain.Config{Timeout: 5 * time.Second}, nil)
	_, err := s.Ask(t.Context(), "hang")
	requireReason(t, clichain.ReasonTimeout, err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	resp, err := s.Ask(t.Context(), "say on")
	require.NoError(t, err)
	require.Equal(t, "on", resp.Text)
}

// If the caller's context ends a turn, the error shows how: a deadline is no cancellation, even if the context
// has its own cause.
func turnReportsEndOfCallerContext(t *testing.T, dialect string) {
	mine := errors.New("mine")
	for name, test := range map[string]struct {
		end    func(context.Context) (context.Context, context.CancelFunc)
		reason clichain.Reason
		want   error
		not    error
	}{
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 300*time.Millisecond)
		}, clichain.ReasonTimeout, context.DeadlineExceeded, context.Canceled},
		"deadline with a cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, 300*time.Millisecond, mine)
		}, clichain.ReasonTimeout, mine, context.Canceled},
		"cancel with a cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			timer := time.AfterFunc(300*time.Millisecond, func() { cancel(mine) })
			return ctx, func() { timer.Stop(); cancel(nil) }
		}, clichain.ReasonCanceled, mine, context.DeadlineExceeded},
	} {
		s := startedBeside(t, dialect, "", patient, nil)
		ctx, cancel := test.end(t.Context())
		_, err := s.Ask(ctx, "hang")
		cancel()
		ctx, cancel = test.end(t.Context())
		unready := live.New(agentOf(t, dialect, "silent", patient), nil)
		t.Cleanup(unready.Kill)
		for _, err := range []error{err, unready.Start(ctx)} {
			requireReason(t, test.reason, err)
			require.ErrorIs(t, err, test.want, name)
			require.ErrorIs(t, err, ctx.Err(), name)
			require.NotErrorIs(t, err, test.not, name)
		}
		cancel()
	}
}

// A turn that prints too much or stays silent too long is ended, and the session continues.
func turnOutputAndSilenceLimits(t *testing.T, dialect string) {
	cfg := patient
	cfg.MaxOutput, cfg.IdleTimeout = 1<<20, testtime.Bound(time.Second)
	s := startedBeside(t, dialect, "", cfg, nil)
	_, err := s.Ask(t.Context(), "hang")
	requireReason(t, clichain.ReasonIdleTimeout, err)
	require.NotErrorIs(t, err, context.Canceled)
	resp, err := s.Ask(t.Context(), "say on")
	require.NoError(t, err)
	require.Equal(t, "on", resp.Text)
	_, err = s.Ask(t.Context(), "flood x")
	requireReason(t, clichain.ReasonOutputLimit, err)
}

// Noise in the output is neither an answer nor a failure.
func TestTurnIgnoresNoise(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		s := started(t, dialect, "", nil)
		for _, text := range []string{"garbage one", "flood two", "twice three", "say four", "late five", "say six"} {
			if dialect == "control" && text == "twice three" {
				continue // the dialect has no name for a turn
			}
			resp, err := s.Ask(t.Context(), text)
			require.NoError(t, err, text)
			_, want, _ := strings.Cut(text, " ")
			require.Equal(t, want, resp.Text)
		}
	})
}

// The access level and then the caller decide the questions of the CLI. An unknown question is refused at once.
func TestPermissionByAccessAndCaller(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		for name, test := range map[string]struct {
			access clichain.Access
			asked  func(context.Context, live.Question) bool
			want   string
		}{
			"without access": {clichain.AccessNone, func(context.Context, live.Question) bool { return true }, `{"chosen":"no"}`},
			"nobody to ask":  {clichain.AccessWrite, nil, `{"chosen":"no"}`},
			"the caller says": {clichain.AccessWrite, func(_ context.Context, q live.Question) bool {
				return q.Tool == "shell" && string(q.Input) == `{"command":"ls"}`
			}, `{"chosen":"yes","input":{"command":"ls"}}`},
			"everything": {clichain.AccessFull, nil, `{"chosen":"yes","input":{"command":"ls"}}`},
		} {
			t.Run(name, func(t *testing.T) {
				cfg := &live.Config{Request: clichain.Request{Access: test.access}, OnPermission: test.asked}
				if test.access != clichain.AccessNone {
					cfg.Request.Dir = t.TempDir()
				}
				s := started(t, dialect, "", cfg)
				resp, err := s.Ask(t.Context(), "ask permit")
				require.NoError(t, err)
				_, answer, _ := strings.Cut(resp.Text, " ")
				require.JSONEq(t, test.want, answer)
				resp, err = s.Ask(t.Context(), "ask the/weather")
				require.NoError(t, err)
				require.Contains(t, resp.Text, "method not found")
			})
		}
	})
}

// Stop ends a CLI that ignores everything, and the turn in flight.
func stopEndsUnresponsiveCLI(t *testing.T, dialect string) {
	for name, end := range map[string]func(*live.Session){"stop": (*live.Session).Stop, "kill": (*live.Session).Kill} {
		t.Run(name, func(t *testing.T) {
			s := startedBeside(t, dialect, "deaf", patient, nil)
			turn, err := s.Send("deaf")
			require.NoError(t, err)
			began := time.Now()
			end(s)
			testtime.Within(t, began, 20*time.Second)
			_, err = turn.Wait(t.Context())
			require.ErrorIs(t, err, live.ErrStopped)
			require.Equal(t, live.Stopped, s.Status().State)
		})
	}
}

// A loop over the events that never continues does not prevent the end of the session.
func TestStopWithStuckEventLoop(t *testing.T) {
	t.Parallel()
	s := started(t, "acp", "", nil)
	stuck, leave := make(chan struct{}), make(chan struct{})
	left := make(chan struct{})
	go func() {
		defer close(left)
		for range s.Events() {
			close(stuck)
			<-leave
			return
		}
	}()
	require.Eventually(t, func() bool {
		turn, err := s.Send("flood x")
		if err != nil {
			return true
		}
		_ = turn
		select {
		case <-stuck:
			return true
		default:
			return false
		}
	}, time.Minute, 10*time.Millisecond)
	s.Stop()
	require.Equal(t, live.Stopped, s.Status().State)
	close(leave)
	<-left
}

// The registry of a backend lists the process of a session and can end it.
func TestRegistryEndsSession(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	var registry runs.Registry
	cfg := patient
	cfg.Registry = &registry
	s := live.New(agentOf(t, "threads", "", cfg), nil)
	t.Cleanup(s.Kill)
	require.NoError(t, s.Start(runs.WithKey(t.Context(), "chat-7", "")))
	require.True(t, registry.HasActive("chat-7"))
	registry.KillAll("chat-7")
	for range s.Events() {
	}
	require.True(t, s.Status().State.Over())
	require.False(t, registry.HasActive("chat-7"))
	_, err := s.Ask(t.Context(), "say hi")
	var wrong *live.StateError
	require.True(t, errors.As(err, &wrong))
}
