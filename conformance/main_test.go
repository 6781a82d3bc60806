package conformance_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
)

func TestMain(m *testing.M) {
	playRecorder()
	playMCPServer()
	playLiveHost()
	os.Exit(netns.Main(withState{m}))
}

// withState runs the tests with a state folder of their own. All homes share it: each CLI gets one of its own by its
// environment.
type withState struct{ *testing.M }

func (m withState) Run() int {
	dir, err := os.MkdirTemp("", "clichain-state-")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "state folder:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	return m.M.Run()
}

// cli is a real CLI in a home of its own, talking to a server of its own.
type cli struct {
	*clichain.Provider
	home   home.Home
	server *loopback.Server
}

// longTimeout is a configuration for machines that are slow to start four large programs.
var longTimeout = clichain.Config{Timeout: minute}

// long skips a test of which the short form is another test, or another CLI.
func long(t *testing.T) {
	t.Helper()
	if !netns.Long() {
		t.Skip("only with " + netns.Variable + "=long")
	}
}

// start makes a Provider for a real CLI whose model says what the script says.
func start(t *testing.T, name string, state home.State, cfg clichain.Config, script loopback.Script) cli {
	t.Helper()
	spec, ok := specs.ByName(name)
	require.True(t, ok)
	return startSpec(t, spec, state, cfg, script)
}

// startSpec does the same by a spec that may not be built in.
func startSpec(t *testing.T, spec clichain.CliSpec, state home.State, cfg clichain.Config, script loopback.Script) cli {
	t.Helper()
	netns.Require(t)
	server := loopback.New(t, script)
	h := home.New(t, spec.Binary, server.URL, state)
	cfg.Binary = h.Binary
	cfg.Env = slices.Concat(h.Env, []string{"IS_SANDBOX=1"}, cfg.Env) // root may use the bypass flags here
	return cli{clichain.NewProvider(spec, &cfg), h, server}
}

// askIn is a question in the home's folder to work in.
func (c cli) askIn(access clichain.Access, text string) clichain.Request {
	req := clichain.Prompt(text)
	req.Access, req.Dir = access, c.home.Work
	return req
}
