package conformance_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
	"github.com/clichain/clichain/workspace"
)

// original makes a repository with an uncommitted change. state returns everything in it, except the times of git's
// objects.
func original(t *testing.T) (dir string, state func() map[string]string) {
	t.Helper()
	temp := t.TempDir()
	dir = filepath.Join(temp, filepath.Base(filepath.Dir(temp))) // no other test has a copy of this name
	require.NoError(t, os.Mkdir(dir, 0o700))
	cmd := exec.Command("sh", "-c", `git init -q && git config user.name A && git config user.email a@example.com &&
		echo one >first && git add . && git commit -q -m first && echo two >second`)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir, func() map[string]string {
		files := map[string]string{}
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := entry.Info()
			require.NoError(t, err)
			files[path] = info.Mode().String()
			if info.Mode().IsRegular() {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				files[path] += string(data)
			}
			return nil
		}))
		return files
	}
}

// killAll kills the processes of a home.
func killAll(t *testing.T, h home.Home) {
	dirs, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, dir := range dirs {
		environ, _ := os.ReadFile("/proc/" + dir.Name() + "/environ")
		if pid := 0; strings.Contains("\x00"+string(environ), "\x00HOME="+h.Dir+"\x00") {
			_, err := fmt.Sscan(dir.Name(), &pid)
			require.NoError(t, err)
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// planLimit is the reply of a service at the limit of a plan.
func planLimit(name string) loopback.Reply {
	switch name {
	case home.Claude:
		return loopback.Error(429, "rate_limit_error", "This request would exceed your account's rate limit.").
			With("anthropic-ratelimit-unified-status", "rejected").
			With("anthropic-ratelimit-unified-reset", "4102444800").
			With("anthropic-ratelimit-unified-representative-claim", "five_hour").
			With("anthropic-ratelimit-unified-overage-status", "rejected")
	case home.Codex:
		return loopback.Status(429, map[string]string{"Content-Type": "application/json"},
			`{"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus"}}`)
	}
	return loopback.Error(429, "rate_limit_error", "You exceeded your current quota.")
}

// A model of the first CLI writes files, and then the CLI dies, hits its limit, or says that it is done although the
// check fails. The second CLI begins with the original files and delivers its patch.
func TestWorkspaceOfRealCLIs(t *testing.T) {
	netns.Require(t)
	names := home.Names()
	for i, name := range names {
		for outcome, reasons := range map[string][]call.Reason{
			"succeeds": nil, "dies": {call.ReasonKilled, call.ReasonExit},
			"hits its limit":   {call.ReasonUsageLimit, call.ReasonRateLimited, call.ReasonBilling},
			"breaks the build": {call.ReasonRejected},
		} {
			t.Run(name+" "+outcome, func(t *testing.T) {
				longUnless(t, name == home.Claude)
				t.Parallel()
				bad := shell(name, "echo bad >made; rm first; mkdir new && echo x >new/file; echo wrote")
				var first cli
				var last loopback.Script
				switch outcome {
				case "succeeds":
					bad = shell(name, "echo good >made; cat second >>made")
					last = loopback.Always(loopback.Text(hello))
				case "dies":
					last = func(loopback.Request) loopback.Reply { killAll(t, first.home); return loopback.Hang() }
				case "hits its limit":
					last = loopback.Always(planLimit(name))
				case "breaks the build":
					last = loopback.Always(loopback.Text(hello))
				}
				calls := 0
				first = withShell(t, name, func(q loopback.Request) loopback.Reply {
					if calls++; calls == 1 {
						return bad
					}
					return last(q)
				})
				next := names[(i+1)%len(names)]
				second := withShell(t, next, loopback.InOrder(
					shell(next, "test ! -e made && test ! -e new && cat first && echo good >made && cat second >>made"),
					loopback.Text(hello)))
				dir, state := original(t)
				before := state()
				cfg := &workspace.Config{Checks: [][]string{{"grep", "-qx", "good", "made"}}}
				chain := clichain.ChainOf([]clichain.Backend{
					workspace.New(first.Provider, cfg), workspace.New(second.Provider, cfg),
				}, nil)
				req := clichain.Prompt("change the files")
				req.Access, req.Dir = clichain.AccessWrite, dir
				resp, err := chain.Complete(t.Context(), req)
				require.NoError(t, err, results(first)+results(second))
				require.Equal(t, before, state(), "the original changed")
				require.Equal(t, hello, resp.Text)
				require.Len(t, resp.Changes.Files, 1, resp.Changes.Patch)
				if reasons == nil {
					require.Equal(t, name, resp.Backend, "%v", resp.Attempts)
				} else {
					require.Equal(t, next, resp.Backend)
					failed, ok := errors.AsType[*call.Error](resp.Attempts[0].Err)
					require.True(t, ok)
					require.True(t, slices.Contains(reasons, failed.Reason), "%v", failed)
					require.True(t, failed.Discarded && !failed.SideEffects)
					require.Contains(t, results(first), "wrote", "the agent changed nothing")
				}
				requireNoCopies(t, filepath.Base(dir), first.home, second.home)
				require.NoError(t, workspace.Apply(t.Context(), dir, resp.Changes))
				made, err := os.ReadFile(filepath.Join(dir, "made"))
				require.NoError(t, err)
				require.Equal(t, "good\ntwo\n", string(made))
			})
		}
	}
}

// withShell starts a CLI whose model has a shell with write access. By default, gemini and opencode have none.
func withShell(t *testing.T, name string, script loopback.Script) cli {
	t.Helper()
	spec, ok := specs.ByName(name)
	require.True(t, ok)
	if name == home.Gemini || name == home.OpenCode {
		spec = unguarded(spec, false)
	}
	return startSpec(t, spec, home.LoggedIn, confining(spec.Name, call.ConfineAuto), script)
}

// requireNoCopies requires that no file of an agent is in a copy, and none of a call in a temporary directory.
func requireNoCopies(t *testing.T, name string, homes ...home.Home) {
	t.Helper()
	work := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "clichain", "work")
	for _, h := range homes {
		left, err := filepath.Glob(filepath.Join(h.Dir, "tmp", "clichain-*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
	copies, err := filepath.Glob(filepath.Join(work, "*", "*", name, "made"))
	require.NoError(t, err)
	require.Empty(t, copies)
	slots, err := filepath.Glob(filepath.Join(work, "*", "*", name, "second"))
	require.NoError(t, err)
	require.NotEmpty(t, slots, "the copies are elsewhere")
}
