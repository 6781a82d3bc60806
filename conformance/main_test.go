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
	playCallHost()
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

func (c *cli) Unwrap() clichain.Backend { return c.Provider }

// longTimeout is a configuration for machines that are slow to start four large programs.
var longTimeout = clichain.Config{Timeout: minute}

// long skips a test of which the short form is another test, or another CLI.
func long(t *testing.T) {
	t.Helper()
	netns.RequireLong(t)
}

// longUnless does so for what the short form leaves out of a table.
func longUnless(t *testing.T, short bool) {
	t.Helper()
	if !short {
		long(t)
	}
}

// isFirst says that a CLI is one of the two whose tables the short form plays in full: their protocols and their ways
// to fail have the least in common.
func isFirst(name string) bool { return name == home.Claude || name == home.Codex }

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
	return startOf(t, home.Newest(t, spec.Binary), spec, state, cfg, script)
}

// startOf does the same with one version of the CLI. WORK in what the model asks of a tool is the home's folder.
func startOf(t *testing.T, of home.Install, spec clichain.CliSpec, state home.State, cfg clichain.Config, script loopback.Script) cli {
	t.Helper()
	netns.Require(t)
	var h home.Home
	within := script
	if script != nil {
		within = func(q loopback.Request) loopback.Reply { return script(q).Within(h.Work) }
	}
	server := loopback.New(t, within)
	h = home.NewOf(t, of, server.URL, state)
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
