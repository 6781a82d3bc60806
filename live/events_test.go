package live_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

// watch records in short form what a loop over the events of a session yields. done is closed at the end of the
// loop.
func watch(s *live.Session) (told *[]string, done <-chan struct{}) {
	told, began, ended := new([]string), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for e, err := range s.Events() {
			switch {
			case err != nil:
				*told = append(*told, "failed")
			case e.Kind == clichain.EventState:
				*told = append(*told, strings.TrimSpace("state "+e.Text+" "+string(e.Reason)))
			case e.Kind == clichain.EventDone:
				*told = append(*told, "done")
			}
			if len(*told) == 1 {
				close(began)
			}
		}
	}()
	<-began
	return told, ended
}

func TestEventsReportStates(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		manners string
		use     func(*testing.T, *live.Session)
		want    []string
	}{
		"a conversation": {use: func(t *testing.T, s *live.Session) {
			require.NoError(t, s.Start(t.Context()))
			_, err := s.Ask(t.Context(), "say hi")
			require.NoError(t, err)
			require.NoError(t, s.Pause())
			require.NoError(t, s.Resume())
			s.Stop()
		}, want: []string{"starting", "running", "done", "paused", "running", "stopping", "stopped"}},
		"never started":   {use: func(_ *testing.T, s *live.Session) { s.Kill() }, want: []string{"stopped"}},
		"a failing start": {manners: "dies at start", use: func(t *testing.T, s *live.Session) { require.Error(t, s.Start(t.Context())) }, want: []string{"starting", "error unauthenticated"}},
		"an early end": {use: func(t *testing.T, s *live.Session) {
			require.NoError(t, s.Start(t.Context()))
			_, err := s.Ask(t.Context(), "die now")
			requireReason(t, clichain.ReasonRateLimited, err)
		}, want: []string{"starting", "running", "failed", "error rate_limited"}},
		"an end between turns": {use: func(t *testing.T, s *live.Session) {
			require.NoError(t, s.Start(t.Context()))
			_, err := s.Ask(t.Context(), "goodbye all")
			require.NoError(t, err)
		}, want: []string{"starting", "running", "done", "error exit"}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, dialect string) {
				clitest.NoLeaks(t)
				s := live.New(agentOf(t, dialect, test.manners, patient), nil)
				t.Cleanup(s.Kill)
				told, done := watch(s)
				test.use(t, s)
				within(t, "the loop has not ended", done)
				want := []string{"state created"}
				for _, state := range test.want {
					if state != "done" && state != "failed" {
						state = "state " + state
					}
					want = append(want, state)
				}
				require.Equal(t, want, *told)
			})
		})
	}
}

// A loop that begins late first receives the current state. From a session that is over it receives nothing
// else.
func TestEventsBeginWithCurrentState(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	s := started(t, "acp", "", nil)
	for e := range s.Events() {
		require.Equal(t, clichain.EventState, e.Kind)
		require.Equal(t, string(live.Running), e.Text)
		break
	}
	s.Stop()
	var states []string
	for e, err := range s.Events() {
		require.NoError(t, err)
		states = append(states, e.Text)
	}
	require.Equal(t, []string{"stopped"}, states)
}

// A loop that does not continue keeps only the latest states.
func TestEventsKeepLatestStates(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	s := started(t, "acp", "", nil)
	var states []string
	for e := range s.Events() {
		if len(states) == 0 {
			for range 100 {
				require.NoError(t, s.Pause())
				require.NoError(t, s.Resume())
			}
			s.Stop()
		}
		states = append(states, e.Text)
	}
	require.Len(t, states, 1+16)
	require.Equal(t, []string{"paused", "running", "stopping", "stopped"}, states[len(states)-4:])
}
