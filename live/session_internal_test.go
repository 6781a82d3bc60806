package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// sessionIn returns a session without a CLI, in a state.
func sessionIn(state State, cfg *Config) *Session {
	s := New(calling(nil).Provider, cfg)
	s.state = state
	return s
}

func TestSessionMethodsByState(t *testing.T) {
	t.Parallel()
	methods := map[string]func(*Session) error{
		"start":     func(s *Session) error { return s.Start(t.Context()) },
		"send":      func(s *Session) error { _, err := s.Send("x"); return err },
		"pause":     (*Session).Pause,
		"resume":    (*Session).Resume,
		"interrupt": func(s *Session) error { return s.Interrupt(t.Context()) },
	}
	for state, want := range map[State][]string{
		Created: {"start"}, Starting: nil, Running: {"interrupt", "pause", "send"}, Paused: {"interrupt", "resume", "send"},
		Stopping: nil, Stopped: nil, Error: nil,
	} {
		t.Run(string(state), func(t *testing.T) {
			var may []string
			for name, method := range methods {
				var refused *StateError
				if !errors.As(method(sessionIn(state, nil)), &refused) {
					may = append(may, name)
					continue
				}
				require.Equal(t, StateError{name, state}, *refused)
				require.EqualError(t, refused, "live: "+name+": the session is "+string(state))
			}
			require.ElementsMatch(t, want, may)
			require.Equal(t, state == Stopped || state == Error, state.Over())
		})
	}
}

func TestSessionThatCannotStart(t *testing.T) {
	t.Parallel()
	s := sessionIn(Created, nil)
	err := s.Start(t.Context())
	require.Equal(t, "spec", call.AsError("", err).Option)
	require.Equal(t, Error, s.Status().State)
	require.Equal(t, err, s.Status().Err)
}

// Turns wait in the queue while the session is paused.
func TestSessionQueue(t *testing.T) {
	t.Parallel()
	s := sessionIn(Paused, &Config{MaxQueue: 2})
	require.Nil(t, s.next())
	first, err := s.Send("one")
	require.NoError(t, err)
	_, err = s.Send("two")
	require.NoError(t, err)
	_, err = s.Send("three")
	require.ErrorContains(t, err, "2 turns are already waiting")
	require.Nil(t, s.next())
	require.Equal(t, 2, s.Status().Queued)
	require.False(t, s.Status().Busy)
	require.NoError(t, s.Resume())
	require.Same(t, first, s.next())
	require.Equal(t, 1, s.Status().Queued)
	require.True(t, s.Status().Busy)
	require.NotNil(t, s.next())
	require.Nil(t, s.next(), "the queue is empty")
}

func TestSessionAskWithoutTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sessionIn(Running, nil)
		_, err := s.Ask(ended(t, context.Canceled), "x")
		require.Equal(t, call.StageSkipped, call.AsError("", err).Stage)
		require.Zero(t, s.Status().Queued)
		_, err = sessionIn(Created, nil).Ask(t.Context(), "x")
		require.ErrorContains(t, err, "send: the session is created")
	})
}

func TestSessionInterruptsTurnInFlight(t *testing.T) {
	t.Parallel()
	s := sessionIn(Running, nil)
	require.NoError(t, s.Interrupt(t.Context()), "there is none")
	turn, err := s.Send("x")
	require.NoError(t, err)
	require.Same(t, turn, s.next())
	require.ErrorIs(t, s.Interrupt(ended(t, context.Canceled)), context.Canceled, "the turn has not ended")
	require.ErrorIs(t, context.Cause(turn.ctx), ErrInterrupted)
	close(turn.done)
	require.NoError(t, s.Interrupt(t.Context()))
}

func TestSessionStopsWithoutCLI(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sessionIn(Created, nil)
		s.Stop()
		s.Kill()
		require.Equal(t, Stopped, s.Status().State)
	})
}

func TestTurnWait(t *testing.T) {
	t.Parallel()
	turn := &Turn{done: make(chan struct{}), resp: &clichain.Response{}}
	_, err := turn.Wait(ended(t, context.Canceled))
	require.ErrorIs(t, err, context.Canceled)
	close(turn.done)
	resp, err := turn.Wait(ended(t, context.Canceled))
	require.NoError(t, err)
	require.Same(t, turn.resp, resp)
	turn.panicked.Store(&hookPanic{"boom"})
	require.PanicsWithValue(t, "boom", func() { _, _ = turn.Wait(t.Context()) })
}
