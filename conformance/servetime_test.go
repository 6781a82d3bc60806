package conformance_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/internal/testtime"
)

// A request to the endpoint has one deadline. If a warm process uses it up, no other call gets a new one.
func TestServeKeepsItsTimeout(t *testing.T) {
	long(t)
	netns.Require(t)
	const timeout = 20 * time.Second
	program := command(t)
	eachLive(t, func(t *testing.T, name string) {
		var hangs atomic.Bool
		model := loopback.New(t, func(loopback.Request) loopback.Reply {
			if hangs.Load() {
				return loopback.Hang()
			}
			return loopback.Text(hello)
		})
		h := home.New(t, name, model.URL, home.LoggedIn)
		e := serving(t, program, h, "--timeout", timeout.String())
		ask := func() (clientAnswer, time.Duration) {
			began := time.Now()
			_, result := goClient(t, e, "complete")
			return result(), time.Since(began)
		}
		for range 2 { // the first call is cold and starts a warm process
			got, _ := ask()
			require.Empty(t, got.Error, "%s", e.log)
		}
		hangs.Store(true)
		got, took := ask()
		require.NotEmpty(t, got.Error)
		testtime.Took(t, took, 2*timeout, e.log.String())
		t.Logf("%s: returned after %.1f s with a timeout of %v", name, took.Seconds(), timeout)
		e.stop(t)
	})
}
