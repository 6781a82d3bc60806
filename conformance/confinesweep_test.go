package conformance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
)

// daemons are shell commands that start a program which outlives them, in its own session without a terminal.
var daemons = map[string]string{
	"setsid": "setsid $PROGRAM >/dev/null 2>&1 </dev/null & echo started",
	// A CLI may end the processes of a command with it, so the command waits until the daemon has its own session.
	"double fork": "(setsid sh -c 'echo started; exec $PROGRAM >/dev/null 2>&1' </dev/null &) | head -n 1",
	"no parent":   "setsid sh -c '$PROGRAM >/dev/null 2>&1 </dev/null & exit 0'; echo started",
}

// A tool call starts a daemon, and the CLI answers after it. The daemon ends with the call, whether or not the kernel
// confines it.
func TestNoDaemonSurvivesTheCall(t *testing.T) {
	netns.Require(t)
	for _, name := range home.Names() {
		access := clichain.AccessWrite
		if name == home.Codex { // at AccessWrite its own sandbox applies
			access = clichain.AccessNone
		}
		for way, command := range daemons {
			for _, confine := range []call.Confinement{call.ConfineRequired, call.ConfineOff} {
				t.Run(name+" "+way+" "+string(confine), func(t *testing.T) {
					longUnless(t, isFirst(name) && way == "double fork")
					t.Parallel()
					_, token := waiter()
					program := "tail -f -s " + token + " /dev/null"
					lived := 0
					script := func(q loopback.Request) loopback.Reply {
						if q.N == 1 {
							return shell(name, strings.ReplaceAll(command, "$PROGRAM", program))
						}
						awaitProcess(t, token)
						lived = max(lived, len(withArgument(t, token)))
						return loopback.Text(hello)
					}
					spec, _ := specs.ByName(name)
					c := startSpec(t, unguarded(spec, false), home.LoggedIn, clichain.Config{Timeout: 2 * minute, Confine: confine}, script)
					req := c.askIn(access, "go on")
					if access == clichain.AccessNone {
						req.Dir = ""
					}
					resp, err := c.Complete(t.Context(), req)
					require.NoError(t, err)
					require.Equal(t, confine == call.ConfineRequired, strings.HasPrefix(resp.Confined, "landlock"), resp.Confined)
					require.Positive(t, lived, "the daemon never ran: %s", results(c))
					nothingLeft(t, token, c.home)
				})
			}
		}
	}
}

// awaitProcess waits until a process has the token as an argument, for at most half of patience.
func awaitProcess(t *testing.T, token string) {
	t.Helper()
	for end := time.Now().Add(patience / 2); len(withArgument(t, token)) == 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // the start of a process causes no event
	}
}
