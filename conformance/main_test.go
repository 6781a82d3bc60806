package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
)

func TestMain(m *testing.M) {
	playRecorder()
	playMCPServer()
	playLiveHost()
	playConversationHost()
	playCallHost()
	os.Exit(netns.Main(withState{m}))
}

// withState runs the tests with their own directories for state and caches. All homes share them. Each CLI gets its own
// ones by its environment.
type withState struct{ *testing.M }

func (m withState) Run() int {
	// With the other XDG_CACHE_HOME the go command would compile everything again.
	environ := os.Environ()
	dir, err := os.MkdirTemp("", "clichain-state-")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	}
	if err == nil {
		err = os.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "state directory:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	buildCommand = sync.OnceValues(func() (string, error) {
		path := filepath.Join(dir, "clichain")
		return path, home.BuildCommand(path, environ)
	})
	return m.M.Run()
}

// cli is a real CLI with its own home and its own model server.
type cli struct {
	*clichain.Provider
	home   home.Home
	server *loopback.Server
}

func (c *cli) Unwrap() clichain.Backend { return c.Provider }

// longTimeout is a configuration for machines that start four large programs slowly.
var longTimeout = clichain.Config{Timeout: minute}

// flagsOnly has the time of longTimeout. The kernel confines no call, so only the flags of the CLI and the checks of
// clichain can prevent an effect.
var flagsOnly = clichain.Config{Timeout: minute, Confine: call.ConfineOff}

// long skips a test in the short form, which covers it by another test or another CLI.
func long(t *testing.T) {
	t.Helper()
	netns.RequireLong(t)
}

// longUnless is like long, for cases that the short form omits.
func longUnless(t *testing.T, short bool) {
	t.Helper()
	if !short {
		long(t)
	}
}

// isFirst reports whether the short form runs the whole table for a CLI. It does for two CLIs whose protocols and
// failures differ most.
func isFirst(name string) bool { return name == home.Claude || name == home.Codex }

// start returns a Provider for a real CLI. The script answers in place of the model.
func start(t *testing.T, name string, state home.State, cfg clichain.Config, script loopback.Script) cli {
	t.Helper()
	spec, ok := specs.ByName(name)
	require.True(t, ok)
	return startSpec(t, spec, state, cfg, script)
}

// startSpec is like start, for a spec that need not be built in.
func startSpec(t *testing.T, spec clichain.CliSpec, state home.State, cfg clichain.Config, script loopback.Script) cli {
	t.Helper()
	return startOf(t, home.Newest(t, spec.Binary), spec, state, cfg, script)
}

// startOf is like startSpec, for one version of the CLI. In tool calls of the script, WORK stands for the home's
// working directory.
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
	cfg.Env = slices.Concat(h.Env, []string{"IS_SANDBOX=1"}, cfg.Env) // lets root use the bypass flags
	c := cli{clichain.NewProvider(spec, &cfg), h, server}
	if how := c.Status("").Confined[call.AccessNone]; cfg.Confine == call.ConfineAuto || cfg.Confine == call.ConfineRequired {
		require.NotEmpty(t, how)
		if strings.HasPrefix(how, "no: ") {
			t.Skip(how)
		}
	}
	return c
}

// askIn returns a request in the home's working directory.
func (c cli) askIn(access clichain.Access, text string) clichain.Request {
	req := clichain.Prompt(text)
	req.Access, req.Dir = access, c.home.Work
	return req
}
