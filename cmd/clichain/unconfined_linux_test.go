package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/seccomptest"
	"github.com/stretchr/testify/require"
)

// withoutLandlock makes a command run as on a system that blocks Landlock.
const withoutLandlock = "CLICHAIN_TEST_WITHOUT_LANDLOCK"

func init() {
	if os.Getenv(withoutLandlock) == "" {
		return
	}
	if err := seccomptest.Deny(seccomptest.LandlockCreateRuleset, syscall.EPERM); err != nil {
		panic(err)
	}
}

// script installs a CLI that is a shell script. Unlike a fake, it can be confined.
func (w *world) script(name, text string) (path string) {
	w.t.Helper()
	path = filepath.Join(w.bin, name)
	require.NoError(w.t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return path
}

// confining returns a command that confines its CLIs, and its output streams.
func (w *world) confining(args ...string) (cmd *exec.Cmd, stdout, stderr *strings.Builder) {
	cmd, stdout, stderr = w.command(args...), new(strings.Builder), new(strings.Builder)
	cmd.Env = append(cmd.Env, "CLICHAIN_CONFINE=", "PATH="+w.bin+":/usr/bin:/bin")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

const unconfinedSpecs = `[{"name":"one","binary":"one","args":[{"args":["{prompt}"]}]},
	{"name":"two","binary":"two","args":[{"args":["{prompt}"]},{"args":["--all"],"when":{"access":["full"]}}]},
	{"name":"three","binary":"three","args":[{"args":["{prompt}"]}],"confine":{"state":[{"path":"~/.three"}]}}]`

// A call that runs unconfined, although the settings confine what they can, prints one line about it.
func TestAskReportsUnconfinedRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script("one", "exit 3")
	w.script("two", "echo fine")
	w.script("three", "echo fine")
	spec := filepath.Join(t.TempDir(), "specs.json")
	require.NoError(t, os.WriteFile(spec, []byte(unconfinedSpecs), 0o600))
	const hint = " (--confine required refuses such a call, off hides this line)\n"
	const noState = "the spec does not list the files of the CLI"
	const blocked = "this kernel has no Landlock, or it is blocked"
	for _, test := range []struct {
		name, order string
		flags       []string
		env         string
		want        string // of stderr, with "|" between the lines
	}{
		{"spec without files", "two", nil, "", "two ran unconfined: " + noState},
		{"failed run and answer", "one,two", nil, "", "one, two ran unconfined: " + noState},
		{"failure", "one", nil, "", "one ran unconfined: " + noState},
		{"JSON", "two", []string{"--json"}, "", "two ran unconfined: " + noState},
		{"stream", "two", []string{"--stream"}, "", "two ran unconfined: " + noState},
		{"confined", "three", nil, "", ""},
		{"failed run and confined answer", "one,three", nil, "", "one ran unconfined: " + noState},
		{"system without Landlock", "one,three", nil, withoutLandlock + "=1", "one, three ran unconfined: " + blocked},
		{"off", "two", []string{"--confine", "off"}, "", ""},
		{"access full", "two", []string{"--access", "full", "--dir", w.cache}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd, stdout, stderr := w.confining(append([]string{"ask", "--spec", spec, "--only", test.order, "hi"}, test.flags...)...)
			cmd.Env = append(cmd.Env, test.env)
			err := cmd.Run()
			require.Equal(t, test.order != "one", err == nil, stderr.String())
			require.Equal(t, test.order != "one", strings.Contains(stdout.String(), "fine"))
			want := ""
			if test.want != "" {
				want = "clichain: " + test.want + hint
			}
			if err != nil { // the reason of the failure follows
				require.True(t, strings.HasPrefix(stderr.String(), want), stderr.String())
				require.Equal(t, 1, strings.Count(stderr.String(), "unconfined"))
				return
			}
			require.Equal(t, want, stderr.String())
		})
	}
}

// The doctor says which calls would run unconfined, and which would be refused.
func TestDoctorReportsConfinement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script("two", "echo fine")
	w.script("three", "echo fine")
	spec := filepath.Join(t.TempDir(), "specs.json")
	require.NoError(t, os.WriteFile(spec, []byte(unconfinedSpecs), 0o600))
	run := func(name string, env ...string) string {
		cmd, stdout, stderr := w.confining("doctor", "--spec", spec, "--only", name)
		cmd.Env = append(cmd.Env, env...)
		_ = cmd.Run() // the exit code depends on the backend
		require.Empty(t, stderr.String())
		return strings.Join(strings.Fields(stdout.String()), " ")
	}
	const nothing = "nothing confines calls with access none, read, write: "
	require.Contains(t, run("two"), nothing+"the spec does not list the files of the CLI → use --confine required")
	require.NotContains(t, run("three"), "confines")
	require.NotContains(t, run("two", "CLICHAIN_CONFINE=off"), "nothing confines")
	require.Contains(t, run("three", withoutLandlock+"=1"), nothing+"this kernel has no Landlock, or it is blocked")
	state := filepath.Join(w.cache, ".three")
	require.NoError(t, os.WriteFile(state, nil, 0o600))
	refused := run("three")
	require.Contains(t, refused, "three unconfined")
	require.Contains(t, refused, fmt.Sprintf("%q cannot hold the state of the CLI", state))
	require.Contains(t, refused, "→ repair or remove "+state+", or use --confine off")
}

// A confined CLI replaces a part of its state. The next call must not run unconfined.
func TestStateOfConfinedCLI(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cli, env, attack, path string
	}{
		{
			"claude", "CLAUDE_CONFIG_DIR=", "rm -f $CLAUDE_CONFIG_DIR/.claude.json; ln -s $HOME/notes.txt/x $CLAUDE_CONFIG_DIR/.claude.json",
			".claude.json",
		},
		{"cline", "", "rm -rf $HOME/.cline/data; : >$HOME/.cline/data", ".cline/data"},
	} {
		t.Run(test.cli, func(t *testing.T) {
			w := newWorld(t)
			secret := filepath.Join(w.cache, ".ssh/id")
			require.NoError(t, os.Mkdir(filepath.Dir(secret), 0o700))
			for _, path := range []string{secret, filepath.Join(w.cache, "notes.txt"), filepath.Join(w.cache, ".bashrc")} {
				require.NoError(t, os.WriteFile(path, []byte("unchanged"), 0o600))
			}
			path := filepath.Join(w.cache, test.path)
			if test.env != "" {
				moved := filepath.Join(w.cache, "moved")
				require.NoError(t, os.Mkdir(moved, 0o700))
				w.env, path = append(w.env, test.env+moved), filepath.Join(moved, test.path)
			}
			w.script(test.cli, "cat $HOME/.ssh/id && echo x >>$HOME/.bashrc\n"+test.attack+"\nexit 3")
			cmd, _, stderr := w.confining("ask", "--only", test.cli, "--no-stdin", "hi")
			require.Error(t, cmd.Run())
			require.Contains(t, stderr.String(), "1 tried")
			info, err := os.Lstat(path)
			require.NoError(t, err)
			require.False(t, info.IsDir() || info.Mode().IsRegular() && info.Size() > 0, "the attack did nothing")

			cmd, _, stderr = w.confining("ask", "--only", test.cli, "--no-stdin", "hi")
			require.Error(t, cmd.Run())
			require.Contains(t, stderr.String(), "0 tried, 1 skipped")
			require.Contains(t, stderr.String(), test.cli+"  unconfined  the call cannot be confined: ")
			require.Contains(t, stderr.String(), "[repair or remove "+path+", or use --confine off]")
			text, err := os.ReadFile(filepath.Join(w.cache, ".bashrc"))
			require.NoError(t, err)
			require.Equal(t, "unchanged", string(text))
		})
	}
}

// A link to the command itself is a CLI like any other. A CLI may have put it among its own files, together with a
// scenario.
func TestLinkToCommandIsConfined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := clitest.Install(w.bin, "three", clitest.Scenario{Steps: []clitest.Step{{Stdout: "fine\n"}}})
	require.NoError(t, err)
	link := filepath.Join(w.bin, "three")
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(program(), link))
	spec := filepath.Join(t.TempDir(), "specs.json")
	require.NoError(t, os.WriteFile(spec, []byte(unconfinedSpecs), 0o600))
	cmd, stdout, stderr := w.confining("ask", "--spec", spec, "--only", "three", "--json", "hi")
	require.NoError(t, cmd.Run(), stderr.String())
	var resp struct{ Text, Confined string }
	require.NoError(t, json.Unmarshal([]byte(stdout.String()), &resp))
	require.Equal(t, "fine", resp.Text)
	require.Regexp(t, "^landlock ", resp.Confined)
}
