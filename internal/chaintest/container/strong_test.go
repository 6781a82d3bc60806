package container_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// A daemon that removes every trace, including its environment, escapes a search of the processes. Behind a shim it
// does not.
func TestShim(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the shim exists on Linux only")
	}
	for _, shim := range []bool{false, true} {
		t.Run(fmt.Sprintf("shim %v", shim), func(t *testing.T) {
			clitest.NoLeaks(t)
			daemon := clitest.Step{Spawn: &clitest.Spawn{Daemon: true, ClearEnv: true, Steps: []clitest.Step{{Hang: true}}}}
			path := clitest.Fake(t, "codex", chaintest.Play(chaintest.ReadStdin, daemon, chaintest.Stdout(chaintest.CodexAnswer("ok"))))
			p := clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: path, Shim: shim, Timeout: time.Minute})
			resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, "ok", resp.Text)
			left := clitest.Survivors(path)
			for _, s := range left {
				process, err := os.FindProcess(s.Pid)
				require.NoError(t, err)
				require.NoError(t, process.Kill())
				require.NoError(t, process.Release()) // it has a descriptor
			}
			require.Equal(t, shim, len(left) == 0, "what the shim is for: %v", left)
		})
	}
}

// Some CLIs leave their own server behind after each run, in its own session, for later runs. The answer arrives, and
// the server is ended, whatever its name.
func TestServerThatACallLeavesBehind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("a daemon is found by its environment, on Linux only")
	}
	clitest.NoLeaks(t)
	server := clitest.Spawn{Daemon: true, Args: []string{"--cline-hub-daemon"}, Steps: []clitest.Step{{Ignore: []string{"INT", "TERM", "HUP"}}, {Hang: true}}}
	path := clitest.Fake(t, "codex", chaintest.Play(chaintest.ReadStdin, clitest.Step{Spawn: &server}, chaintest.Stdout(chaintest.CodexAnswer("ok"))))
	p := clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: path})
	for range 2 {
		resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, "ok", resp.Text)
		require.Empty(t, clitest.Survivors(path))
	}
}

// An invalid control group is a clear error, before anything starts.
func TestCgroupThatIsNone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("control groups exist on Linux only")
	}
	record := filepath.Join(t.TempDir(), "record.json")
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{Cgroup: filepath.Join(t.TempDir(), "nowhere")}, chaintest.Play(clitest.Step{Record: record}))
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	chaintest.RequireReason(t, clichain.ReasonSpawn, err)
	_, err = os.Stat(record)
	require.ErrorIs(t, err, os.ErrNotExist)
}
