package live_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/leaks/parallel"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/runs"
)

func TestMain(m *testing.M) {
	runs.ShimMain()
	playAgent()
	clitest.Main()
	parallel.Default(32) // the tests mostly wait, and need little CPU
	os.Exit(clitest.Run(parallel.Tests(m)))
}

// patient is a timeout that suffices on a machine that is five times slower.
var patient = clichain.Config{Timeout: time.Minute}

// started returns a running session with the agent of a dialect.
func started(t *testing.T, dialect, manners string, cfg *live.Config) *live.Session {
	t.Helper()
	clitest.NoLeaks(t)
	return startedBeside(t, dialect, manners, patient, cfg)
}

// startedBeside is started for parallel tests.
func startedBeside(t *testing.T, dialect, manners string, backend clichain.Config, cfg *live.Config) *live.Session {
	t.Helper()
	s := live.New(agentOf(t, dialect, manners, backend), cfg)
	t.Cleanup(s.Kill)
	require.NoError(t, s.Start(t.Context()))
	require.Equal(t, live.Running, s.Status().State)
	return s
}

// each runs a test with each dialect.
func each(t *testing.T, test func(t *testing.T, dialect string)) {
	for _, dialect := range dialects {
		t.Run(dialect, func(t *testing.T) { test(t, dialect) })
	}
}

// atOnce runs a test with all dialects in parallel, because the test mostly waits. No process may be left after
// them.
func atOnce(t *testing.T, test func(t *testing.T, dialect string)) {
	clitest.NoLeaks(t)
	each(t, func(t *testing.T, dialect string) {
		t.Parallel()
		test(t, dialect)
	})
}

func requireReason(t *testing.T, want clichain.Reason, err error) *clichain.BackendError {
	t.Helper()
	var be *clichain.BackendError
	require.ErrorAs(t, err, &be)
	require.Equal(t, want, be.Reason, "%v", err)
	return be
}

// politeness is the time after which Stop kills a process.
const politeness = 5 * time.Second

// stop returns how long Stop takes.
func stop(s *live.Session) time.Duration {
	began := time.Now()
	s.Stop()
	return time.Since(began)
}

// One process answers several turns, each with the earlier conversation, and exits when its input ends.
func TestSessionConversation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		clitest.NoLeaks(t)
		p := agentOf(t, dialect, "notes its end", patient)
		s := live.New(p, nil)
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		for i, want := range []string{"recall 1", "recall 1|recall 2", "recall 1|recall 2|recall 3"} {
			resp, err := s.Ask(t.Context(), "recall "+string(rune('1'+i)))
			require.NoError(t, err)
			require.Equal(t, want, resp.Text)
			require.EqualValues(t, 3, resp.Usage.InputTokens, "of the turn")
			require.Equal(t, "lumen", resp.Backend)
			require.Positive(t, resp.Duration)
		}
		status := s.Status()
		require.Equal(t, 3, status.Turns)
		require.EqualValues(t, 9, status.Usage.InputTokens)
		took := stop(s)
		for n := 0; n < 3 && took >= politeness; n++ { // a busy machine gets more attempts
			took = stop(started(t, dialect, "", nil))
		}
		testtime.Took(t, took, politeness/2, "the process exits at the end of its input")
		require.FileExists(t, p.Config().Binary+".end")
		require.Equal(t, live.Stopped, s.Status().State)
		require.NoError(t, s.Status().Err)
	})
}

// hang sends a turn that ends only if it is interrupted, and returns when the turn has begun.
func hang(t *testing.T, s *live.Session) (turn *live.Turn) {
	t.Helper()
	for e, err := range s.Events() {
		require.NoError(t, err)
		if turn == nil { // the first event is the state: no event of the turn is missed
			turn, err = s.Send("hang")
			require.NoError(t, err)
		}
		if e.Kind == clichain.EventDelta {
			break
		}
	}
	return turn
}

// An interrupted turn ends as canceled, with its partial text, and the next turn works.
func TestSessionInterrupt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		s := started(t, dialect, "", nil)
		turn := hang(t, s)
		require.True(t, s.Status().Busy)
		require.NoError(t, s.Interrupt(t.Context()))
		require.False(t, s.Status().Busy)
		_, err := turn.Wait(t.Context())
		require.ErrorIs(t, err, live.ErrInterrupted)
		require.Equal(t, "half", requireReason(t, clichain.ReasonCanceled, err).Partial)
		resp, err := s.Ask(t.Context(), "say again")
		require.NoError(t, err)
		require.Equal(t, "again", resp.Text)
		require.NoError(t, s.Interrupt(t.Context()), "no turn is in flight")
	})
}

// Turns that are sent while a session is paused wait, up to the maximum.
func TestSessionPause(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		s := started(t, dialect, "", &live.Config{MaxQueue: 2})
		require.NoError(t, s.Pause())
		first, err := s.Send("say one")
		require.NoError(t, err)
		second, err := s.Send("recall two")
		require.NoError(t, err)
		_, err = s.Send("say three")
		require.Equal(t, "config.max_queue", requireReason(t, clichain.ReasonBudgetSpent, err).Option)
		require.Equal(t, 2, s.Status().Queued)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = first.Wait(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded, "it waits")
		require.NoError(t, s.Resume())
		resp, err := second.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "say one|recall two", resp.Text)
	})
}

// Each method is allowed in some states, and returns a StateError in the others.
func TestSessionMethodsInWrongState(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	s := live.New(agentOf(t, "acp", "", patient), nil)
	refused := func(want live.State, calls ...func() error) {
		t.Helper()
		for i, method := range calls {
			var wrong *live.StateError
			require.ErrorAs(t, method(), &wrong, i)
			require.Equal(t, want, wrong.State)
		}
	}
	start := func() error { return s.Start(t.Context()) }
	send := func() error { _, err := s.Send("say hi"); return err }
	ask := func() error { _, err := s.Ask(t.Context(), "say hi"); return err }
	interrupt := func() error { return s.Interrupt(t.Context()) }
	refused(live.Created, send, ask, s.Pause, s.Resume, interrupt)
	require.NoError(t, start())
	refused(live.Running, start, s.Resume)
	require.NoError(t, s.Pause())
	refused(live.Paused, start, s.Pause)
	s.Stop()
	refused(live.Stopped, start, send, ask, s.Pause, s.Resume, interrupt)
	s.Stop()
	s.Kill()

	never := live.New(agentOf(t, "acp", "", patient), nil)
	never.Stop()
	require.Equal(t, live.Stopped, never.Status().State)
	refused(live.Stopped, func() error { return never.Start(t.Context()) })
}

// A CLI that cannot start ends the session, with the reason that a call would have.
func TestSessionStartFails(t *testing.T) {
	t.Parallel()
	atOnce(t, func(t *testing.T, dialect string) {
		for manners, want := range map[string]clichain.Reason{
			"dies at start": clichain.ReasonUnauthenticated, "refuses": clichain.ReasonUnauthenticated, "silent": clichain.ReasonTimeout,
		} {
			t.Run(manners, func(t *testing.T) {
				cfg := patient
				if manners == "silent" {
					cfg.Timeout = time.Second
				}
				s := live.New(agentOf(t, dialect, manners, cfg), nil)
				requireReason(t, want, s.Start(t.Context()))
				require.Equal(t, live.Error, s.Status().State)
				requireReason(t, want, s.Status().Err)
			})
		}
	})
	boxed := live.New(agentOf(t, "acp", "", clichain.Config{Container: &clichain.Container{Name: "dev", Runtime: "/bin/true"}}), nil)
	require.Contains(t, requireReason(t, clichain.ReasonUnsupported, boxed.Start(t.Context())).Message, "container")
	s := live.New(clichain.NewProvider(clichain.CliSpec{Name: "cold", Binary: "true"}, nil), nil)
	require.Equal(t, "live", requireReason(t, clichain.ReasonUnsupported, s.Start(t.Context())).Option)
}
