package container

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/compose"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }

var update = flag.Bool("update", false, "rewrite golden files")

// boxSpec uses everything that differs in a container: files, an empty directory, an environment variable that
// clients also use, and another name.
func boxSpec() clispec.Spec {
	return clispec.Spec{
		Name: "boxed", Binary: "boxed", AltBinaries: []string{"box'd"},
		GuardFiles: []string{".boxed/it's"}, FolderFiles: []string{"./.boxed", "boxed.json"},
		Transports: []clispec.Transport{clispec.TransportStdin},
		Files:      []clispec.FileRow{{Field: "system", Name: "system.md", Content: "{system}", When: clispec.When{Set: []string{"system"}}}},
		Args: []clispec.ArgRow{
			{Args: []string{"--system", "{system_file}"}, When: clispec.When{Set: []string{"system"}}},
			{Args: []string{"--effort={effort}"}, When: clispec.When{Set: []string{"effort"}}},
			{Args: []string{"--tools"}, When: clispec.When{Access: []call.Access{call.AccessRead}}},
		},
		Env:     []clispec.EnvRow{{Name: "TMPDIR", Value: "{temp}", When: clispec.When{Set: []string{"system"}}}},
		PassEnv: []string{"BOXED_*"}, DropEnv: []string{"BOXED_MARK"},
		Preflight: []clispec.PreflightRule{{Root: true, Reason: call.ReasonPermissionRefused, Message: "not as root"}},
	}
}

// boxHost is a machine whose secrets contain the word "secret".
var boxHost = compose.Host{
	Path: "/usr/bin/docker", TempDir: "/tmp/clichain-ID", Root: true,
	Environ: []string{
		"PATH=/host/bin", "HOME=/host/home", "TMPDIR=/host/tmp", "LANG=C", "DOCKER_HOST=unix:///host.sock", "CONTAINER_HOST=x", "SHELL=/bin/fish",
		"BOXED_KEY=secret-key", "BOXED_MARK=1", "MORE=secret-more", "STRANGER=secret-stranger", "BASH_FUNC_x%%=() { :; }",
	},
	PassEnv: []string{"MORE", "BASH_*", "P*"},
}

// boxed is an invocation in a container with its Box.
type boxed struct {
	*compose.Invocation
	*Box
}

func wrap(t testing.TB, c Container, req call.Request, change func(*compose.Host)) (*boxed, *call.Error) {
	host := boxHost
	if change != nil {
		change(&host)
	}
	spec, vessel := boxSpec(), &c
	vessel.Describe(&host)
	inv, err := compose.New(&spec, nil).Compose(req, compose.Choice{}, host)
	if err != nil {
		return nil, err
	}
	box, err := vessel.Wrap(inv, &host, append([]string{spec.Binary}, spec.AltBinaries...))
	return &boxed{inv, box}, err
}

func withSystem() call.Request {
	return call.Request{Messages: []call.Message{{Role: call.RoleSystem, Content: "secret-system"}, {Role: call.RoleUser, Content: "secret-prompt"}}}
}

func TestContainerGolden(t *testing.T) {
	requests := map[string]call.Request{
		"plain": {Messages: withSystem().Messages[1:], Access: call.AccessRead, Dir: "/work"},
		"empty": {Messages: withSystem().Messages[1:]},
		"files": withSystem(),
	}
	for place, c := range map[string]Container{
		"exec": {Name: "dev"}, "run": {Image: "example/agent:1", RunArgs: []string{"--user=1000", "-v", "/a:/b"}},
	} {
		for name, req := range requests {
			t.Run(place+" "+name, func(t *testing.T) {
				inv, err := wrap(t, c, req, func(h *compose.Host) {
					h.Dir, h.Env = req.Dir, []string{"HOME=/home/secret", "TOKEN=secret-token"}
				})
				require.Nil(t, err)
				var b strings.Builder
				for _, arg := range inv.Args {
					fmt.Fprintf(&b, "%s\n", strings.TrimRight(arg, "\n"))
				}
				for _, kv := range inv.Env {
					fmt.Fprintf(&b, "env %s\n", kv)
				}
				fmt.Fprintf(&b, "stdin %s\n", inv.Stdin)
				for _, args := range [][]string{inv.Stop, inv.End} {
					fmt.Fprintf(&b, "then %s\n", strings.ReplaceAll(strings.Join(args, " "), sweepScript, "SWEEP"))
				}
				goldenText(t, filepath.Join("testdata", "golden", place+"-"+name+".txt"), b.String())
				all := slices.Concat(inv.Args, inv.Stop, inv.End)
				require.NotContains(t, strings.Join(all, "\n"), "secret", "arguments are visible to all")
				require.Empty(t, inv.Dir, "the directory is inside the container")
			})
		}
	}
}

// No environment variable that describes this machine is passed on, even if the settings request all of them.
func TestContainerEnvironment(t *testing.T) {
	inv, err := wrap(t, Container{Name: "dev"}, call.Prompt("hi"), func(h *compose.Host) {
		h.InheritEnv, h.Env = true, []string{"PATH=/inside/bin", "DOCKER_HOST="}
	})
	require.Nil(t, err)
	var in []string
	for i, arg := range inv.Args {
		if arg == "-e" {
			in = append(in, inv.Args[i+1])
		}
	}
	require.ElementsMatch(t, []string{
		"CLICHAIN_RUN", "CLICHAIN_CALL", "BOXED_KEY", "MORE", "STRANGER", "LANG",
		"TERM", "NO_COLOR", "GIT_TERMINAL_PROMPT", "CLICHAIN_ENV_PATH", "CLICHAIN_ENV_DOCKER_HOST",
	}, in)
	require.Contains(t, inv.Env, "PATH=/host/bin", "the client's own")
	require.Contains(t, inv.Env, "DOCKER_HOST=unix:///host.sock")
	require.Contains(t, inv.Env, "CLICHAIN_ENV_PATH=/inside/bin")
}

func TestContainerRefusals(t *testing.T) {
	big := withSystem()
	big.Messages[0].Content = strings.Repeat("x", 131_072)
	_, err := wrap(t, Container{Name: "dev"}, big, nil)
	require.NotNil(t, err)
	require.Equal(t, []any{call.ReasonUnsupported, "system"}, []any{err.Reason, err.Option})
	_, err = wrap(t, Container{Name: "dev"}, call.Prompt("hi"), func(h *compose.Host) { h.Env = []string{"a.b=c"} })
	require.NotNil(t, err)
	require.Equal(t, []any{call.ReasonUnsupported, "env"}, []any{err.Reason, err.Option})
	big.Messages[0].Content = strings.Repeat("x", 131_000)
	_, err = wrap(t, Container{Name: "dev"}, big, nil)
	require.Nil(t, err)
}

// TestContainerWrapper runs the wrapper with each shell of this machine instead of in a container.
func TestContainerWrapper(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			bin, temp := t.TempDir(), filepath.Join(t.TempDir(), "clichain-ID")
			require.NoError(t, os.WriteFile(filepath.Join(bin, "box'd"), []byte(`#!/bin/sh
pwd; umask; stat -c %a . .. "$2"; cat "$2"; echo; echo "$TMPDIR|$BOXED_KEY|$HOME|${CLICHAIN_FILE_0-none}|${CLICHAIN_ENV_HOME-none}"; cat
`), 0o755))
			req := withSystem()
			req.Messages[0].Content = "it's $HOME `x` \\n 100%\n\n"
			inv, refusal := wrap(t, Container{Name: "dev"}, req, func(h *compose.Host) {
				h.TempDir, h.Env = temp, []string{"HOME=/inside", "PATH=" + bin + ":" + os.Getenv("PATH")}
			})
			require.Nil(t, refusal)
			at := slices.Index(inv.Args, "-c")
			cmd := exec.Command(shell[0], append(shell[1:], inv.Args[at:]...)...)
			cmd.Env, cmd.Stdin = append(inv.Env, "PATH=/usr/bin:/bin"), bytes.NewReader(inv.Stdin)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			umask, err := exec.Command("sh", "-c", "umask").Output()
			require.NoError(t, err)
			out, err := cmd.Output()
			require.NoError(t, err, "%s%s", out, stderr.String())
			text := req.Messages[0].Content
			require.Equal(t, fmt.Sprintf("%s/empty\n%s700\n700\n600\n%s\n%s|secret-key|/inside|none|none\nsecret-prompt",
				temp, umask, text, temp), string(out))

			again := exec.Command(shell[0], append(shell[1:], inv.Args[at:]...)...)
			again.Env = cmd.Env
			out, err = again.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(out), "clichain: cannot make temporary files", "an existing directory may belong to another user")
		})
	}
}

// shells returns the shells of this machine that containers use as sh.
func shells(t *testing.T) map[string][]string {
	if runtime.GOOS != "linux" {
		t.Skip("containers run Linux")
	}
	found := map[string][]string{}
	for _, shell := range [][]string{{"sh"}, {"dash"}, {"bash", "--posix"}, {"busybox", "sh"}} {
		if path, err := exec.LookPath(shell[0]); err == nil {
			found[shell[0]] = append([]string{path}, shell[1:]...)
		}
	}
	require.NotEmpty(t, found)
	return found
}

// TestContainerSweep runs the sweep with each shell: it ends only processes with the mark.
func TestContainerSweep(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc here")
	}
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temp, started := t.TempDir(), filepath.Join(t.TempDir(), "started")
			path := fake.New(t, "cli", fake.Scenario{Steps: []fake.Step{
				fake.Step{Ignore: []string{"TERM"}},
				fake.Step{Spawn: &fake.Spawn{Setsid: true, Steps: []fake.Step{{Ignore: []string{"TERM"}}, {Hang: true}}}},
				fake.Step{Spawn: &fake.Spawn{Daemon: true, Steps: []fake.Step{{Hang: true}}}},
				fake.Step{Record: started}, fake.Step{Hang: true},
			}})
			marked, other := exec.Command(path), exec.Command(path)
			marked.Env, other.Env = []string{"CLICHAIN_CALL=clichain-" + name}, []string{"CLICHAIN_CALL=other"}
			require.NoError(t, marked.Start())
			waitForRecord(t, started)
			ended := make(chan struct{})
			go func() { defer close(ended); _ = marked.Wait() }()
			require.Len(t, fake.Survivors(path), 3)
			require.NoError(t, other.Start())
			require.Eventually(t, func() bool { return len(fake.Survivors(path)) == 6 }, time.Minute, time.Millisecond)
			defer func() { _ = other.Process.Kill(); _ = other.Wait() }()

			out, err := exec.CommandContext(t.Context(), shell[0], append(shell[1:], "-c", sweepScript, "clichain", "CLICHAIN_CALL=clichain-"+name, temp)...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			<-ended
			require.NoDirExists(t, temp)
			for _, left := range fake.Survivors(path) {
				environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", left.Pid))
				require.NoError(t, err)
				require.Contains(t, string(environ), "CLICHAIN_CALL=other")
			}
			require.NoError(t, other.Process.Signal(os.Interrupt), "the other process still runs")
		})
	}
}

func goldenText(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to make it")
	require.Equal(t, string(want), got)
}

// waitForRecord waits until a fake has played its Record step.
func waitForRecord(t *testing.T, path string) (r fake.Record) {
	t.Helper()
	require.Eventually(t, func() (ok bool) {
		var err error
		r, err = fake.ReadRecord(path)
		return err == nil
	}, time.Minute, time.Millisecond)
	return r
}
