package conformance_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/live"
)

// A function that panics or ignores its context denies the permission. The command does not run, and the session
// continues.
func TestFaultyOnPermissionWithTheCLIs(t *testing.T) {
	for _, name := range []string{home.Claude, home.Codex} {
		for _, panics := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s panics=%t", name, panics), func(t *testing.T) {
				t.Parallel()
				command := map[string]loopback.Reply{
					home.Claude: shell(home.Claude, `sh -c "touch made"`),
					home.Codex: loopback.Tool("exec_command", map[string]any{
						"cmd": "touch made", "yield_time_ms": 10000, "sandbox_permissions": "require_escalated", "justification": "because",
					}),
				}[name]
				c := start(t, name, home.LoggedIn, clichain.Config{Timeout: 2 * time.Minute}, loopback.InOrder(command, loopback.Text(hello), loopback.Text(hello)))
				asked, release := make(chan context.Context, 4), make(chan struct{})
				t.Cleanup(func() { close(release) })
				s := live.New(c.Provider, &live.Config{
					Request: clichain.Request{Access: clichain.AccessWrite, Dir: c.home.Work},
					OnPermission: func(ctx context.Context, _ live.Question) bool {
						asked <- ctx
						if panics {
							panic("boom")
						}
						<-release
						return true
					},
				})
				t.Cleanup(s.Kill)
				require.NoError(t, s.Start(t.Context()))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				got := make(chan context.Context, 1)
				go func() {
					got <- <-asked
					if !panics {
						cancel()
					}
				}()
				began := time.Now()
				resp, err := s.Ask(ctx, "use your shell")
				t.Logf("Ask returned after %v: %v", time.Since(began).Round(time.Millisecond), err)
				if panics {
					require.NoError(t, err)
					require.Equal(t, hello, resp.Text)
					require.Contains(t, strings.Join(resp.Warnings, " "), "OnPermission panicked at permission_test.go:")
				} else {
					require.ErrorIs(t, err, clichain.ErrCanceled)
				}
				require.ErrorIs(t, (<-got).Err(), context.Canceled)
				require.NoFileExists(t, filepath.Join(c.home.Work, "made"))
				require.Equal(t, live.Running, s.Status().State)
				resp, err = s.Ask(t.Context(), "and now?")
				require.NoError(t, err)
				require.Equal(t, hello, resp.Text)
			})
		}
	}
}
