package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

// Stop and Kill end a session whose CLI is not ready. That is no failure of the CLI.
func TestStopDuringStart(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*live.Session){"stop": (*live.Session).Stop, "kill": (*live.Session).Kill} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			s := live.New(agentOf(t, "acp", "silent", patient), nil)
			failed := make(chan error, 1)
			for e := range s.Events() {
				switch e.Text {
				case string(live.Created):
					go func() { failed <- s.Start(t.Context()) }()
				case string(live.Starting):
					end(s)
				}
			}
			err := <-failed
			require.ErrorIs(t, err, live.ErrStopped)
			requireReason(t, clichain.ReasonCanceled, err)
			require.Equal(t, live.Stopped, s.Status().State)
			require.NoError(t, s.Status().Err)
		})
	}
}
