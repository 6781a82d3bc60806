package conformance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/specs"
)

// planted are programs that CLIs start by name.
var planted = []string{"node", "git", "rg", "sh", "bash", "zsh", "uname", "which", "ps", "cat", "env", "npm", "xdg-open", "security", "tput", "lsof"}

// plant writes these programs to the working directory and puts the directory first on PATH, in each relative form. A
// program that runs writes its name to the marker.
func plant(t *testing.T, h *home.Home) (marker string) {
	t.Helper()
	marker = filepath.Join(t.TempDir(), "ran")
	for _, name := range planted {
		script := fmt.Sprintf("#!/bin/sh\necho %s >>%s\n", name, marker)
		require.NoError(t, os.WriteFile(filepath.Join(h.Work, name), []byte(script), 0o700))
	}
	h.Write(t, "work/.git/HEAD", "ref: refs/heads/main\n") // makes CLIs start git
	h.Write(t, "work/.git/config", "[core]\n\trepositoryformatversion = 0\n")
	for _, dir := range []string{"objects", "refs"} {
		require.NoError(t, os.MkdirAll(filepath.Join(h.Work, ".git", dir), 0o700))
	}
	for i, kv := range h.Env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			h.Env[i] = "PATH=:.:../work:" + path + ":"
		}
	}
	return marker
}

// With "." on PATH, a CLI runs programs of its working directory. A call through clichain must not.
func TestProgramsOfWorkingDirectory(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		server := loopback.New(t, loopback.Always(loopback.Text(hello)))
		h := home.New(t, name, server.URL, home.LoggedIn)
		marker := plant(t, &h)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		bare := h.Command(ctx, plain[name]...)
		bare.Stdin = strings.NewReader("say hi")
		out, err := bare.CombinedOutput()
		ran, _ := os.ReadFile(marker)
		require.NotEmpty(t, ran, "without clichain no program of the directory ran: %v %s", err, out)
		t.Logf("without clichain: %q", strings.Fields(string(ran)))
		require.NoError(t, os.Remove(marker))

		spec := specOf(t, name)
		inherited := slices.DeleteFunc(slices.Clone(h.Env), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
		h.Apply(t)
		for access, env := range map[clichain.Access][]string{clichain.AccessRead: inherited, clichain.AccessWrite: h.Env} {
			p := clichain.NewProvider(spec, &clichain.Config{Binary: h.Binary, Timeout: minute, Env: env, Confine: call.ConfineOff})
			req := clichain.Prompt("say hi")
			req.Dir, req.Access = h.Work, access
			resp, err := p.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.NoFileExists(t, marker, "access %s", access)
		}
		_, err = clichain.NewProvider(spec, &clichain.Config{Binary: h.Binary, Env: h.Env}).Probe(t.Context(), []string{"--version"}, minute)
		require.NoError(t, err)
		require.NoFileExists(t, marker, "a probe")
	})
}

// A provider in the configuration of codex may need an environment variable that clichain does not pass on. The error
// must name it and the option that passes it on.
func TestVariableOfCodexIsNamed(t *testing.T) {
	const name = "ACME_GATEWAY_KEY"
	for _, passed := range []bool{false, true} {
		t.Run(fmt.Sprintf("passed=%v", passed), func(t *testing.T) {
			cfg := longTimeout
			if passed {
				cfg.PassEnv = []string{name}
			}
			c := start(t, home.Codex, home.LoggedIn, cfg, loopback.Always(loopback.Text(hello)))
			c.home.Write(t, ".codex/config.toml", fmt.Sprintf("model_provider = \"acme\"\nmodel = \"gpt-5.5\"\n"+
				"[model_providers.acme]\nname = \"acme\"\nbase_url = %q\nenv_key = %q\nwire_api = \"responses\"\n", c.server.URL+"/v1", name))
			t.Setenv(name, "loopback-of-acme")
			resp, err := c.Complete(t.Context(), c.askIn(clichain.AccessRead, "say hi"))
			if passed {
				require.NoError(t, err)
				require.Equal(t, hello, resp.Text)
				return
			}
			require.ErrorIs(t, err, clichain.ErrUnauthenticated)
			var be *clichain.BackendError
			require.ErrorAs(t, err, &be)
			require.Equal(t, "set ACME_GATEWAY_KEY and add it to Config.PassEnv", be.HintText())
			require.Empty(t, c.server.Calls())
		})
	}
}

func specOf(t *testing.T, name string) clichain.CliSpec {
	t.Helper()
	spec, ok := specs.ByName(name)
	require.True(t, ok)
	return spec
}

// A shell of the agent must not see credentials of a cloud that the CLI does not use, nor BASH_ENV. bash would run
// the file that BASH_ENV names.
func TestShellOfTheAgent(t *testing.T) {
	for name, test := range map[string]struct {
		cfg    clichain.Config
		passed bool
	}{
		"default":        {cfg: longTimeout},
		"inherited":      {cfg: clichain.Config{Timeout: minute, InheritEnv: true}},
		"passed by name": {cfg: clichain.Config{Timeout: minute, PassEnv: []string{"BASH_ENV", "AWS_PROFILE"}}, passed: true},
	} {
		t.Run(name, func(t *testing.T) {
			seen, marker := filepath.Join(t.TempDir(), "seen"), filepath.Join(t.TempDir(), "ran")
			script := filepath.Join(t.TempDir(), "startup.sh")
			require.NoError(t, os.WriteFile(script, []byte("echo ran >"+marker+"\n"), 0o600))
			t.Setenv("BASH_ENV", script)
			t.Setenv("SHELL", "/bin/bash")
			t.Setenv("AWS_PROFILE", "acme")
			call := loopback.Tool("Bash", map[string]any{"command": "bash -c 'env >" + seen + "'", "description": "look"})
			c := start(t, home.Claude, home.LoggedIn, test.cfg, loopback.InOrder(call, loopback.Text(hello)))
			_, err := c.Complete(t.Context(), c.askIn(clichain.AccessFull, "look"))
			require.NoError(t, err)
			env, err := os.ReadFile(seen)
			require.NoError(t, err)
			require.Equal(t, test.passed, strings.Contains(string(env), "BASH_ENV="))
			require.Equal(t, test.passed, fileExists(marker))
			require.Equal(t, test.passed || test.cfg.InheritEnv, strings.Contains(string(env), "AWS_PROFILE=acme"))
		})
	}
}
