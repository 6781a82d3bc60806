package cooldown_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// The limit of one model does not affect another model.
func TestRestOfAModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := chaintest.Failing("a", clichain.ReasonUsageLimit)
		c := chaintest.ChainOf(a)
		for _, model := range []string{"big", "big", "small", "small", "", ""} {
			req := clichain.Prompt("hi")
			req.Model = model
			_, err := c.Complete(t.Context(), req)
			require.Error(t, err)
		}
		require.Equal(t, 3, a.Asked)
	})
}

// A refusal for one directory or access level does not affect others.
func TestRestForARequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := chaintest.Failing("a", clichain.ReasonUntrustedDir)
		c := chaintest.ChainOf(a)
		here, there, writes := clichain.Prompt("hi"), clichain.Prompt("hi"), clichain.Prompt("hi")
		here.Access, there.Access, writes.Access = clichain.AccessRead, clichain.AccessRead, clichain.AccessWrite
		there.Dir = "/"
		for _, req := range []clichain.Request{here, here, there, there, writes, writes} {
			_, _ = c.Complete(t.Context(), req)
		}
		require.Equal(t, 3, a.Asked)
	})
}

// The key of a backend's cooldown changes with its credentials.
func TestCooldownKey(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("OPENAI_API_KEY", "one")
	program := filepath.Join(t.TempDir(), "codex")
	install := func(text string) { require.NoError(t, os.WriteFile(program, []byte(text), 0o700)) }
	install("#!/bin/sh\n")
	model := ""
	key := func(cfg clichain.Config) string {
		cfg.Binary = program
		return chaintest.CooldownKey(clichain.NewProvider(specs.Codex(), &cfg), model)
	}
	first := key(clichain.Config{})
	require.Regexp(t, `^codex@[0-9a-f]{16}$`, first)
	require.Equal(t, first, key(clichain.Config{Timeout: time.Second}))
	t.Setenv("RUST_LOG", "debug")
	t.Setenv("STRANGERS_KEY", "x")
	require.Equal(t, first, key(clichain.Config{}), "variables that mean no account")
	for _, test := range []struct {
		name string
		cfg  clichain.Config
		set  func(t *testing.T)
	}{
		{"a key", clichain.Config{}, func(t *testing.T) { t.Setenv("OPENAI_API_KEY", "two") }},
		{"a home", clichain.Config{}, func(t *testing.T) { t.Setenv("HOME", "/elsewhere") }},
		{"a home of the CLI's own", clichain.Config{}, func(t *testing.T) { t.Setenv("CODEX_HOME", "/elsewhere") }},
		{"a variable of the settings", clichain.Config{Env: []string{"WHO=me"}}, func(*testing.T) {}},
		{"a passed variable", clichain.Config{PassEnv: []string{"STRANGERS_KEY"}}, func(*testing.T) {}},
		{"a new version", clichain.Config{}, func(*testing.T) { install("#!/bin/sh\n# 2\n") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := key(clichain.Config{})
			test.set(t)
			require.NotEqual(t, before, key(test.cfg))
		})
	}
	named := key(clichain.Config{Account: "team"})
	require.NotEqual(t, key(clichain.Config{}), named)
	require.NotEqual(t, named, key(clichain.Config{Account: "other"}))
	t.Run("an account by name", func(t *testing.T) {
		t.Setenv("HOME", "/another machine")
		install("#!/bin/sh\n# 3\n")
		require.Equal(t, named, key(clichain.Config{Account: "team"}))
	})
	first = key(clichain.Config{})
	wrapped := chaintest.Wrapper{Provider: clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: program})}
	require.Equal(t, first, chaintest.CooldownKey(wrapped, ""))
	model = "codex/gpt-5.5"
	require.Equal(t, first+"/gpt-5.5", key(clichain.Config{}))
	model = specs.Codex().DefaultModel
	require.Equal(t, first, key(clichain.Config{}))
	require.Empty(t, chaintest.CooldownKey(clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: "/nowhere/codex"}), ""))
	require.Empty(t, chaintest.CooldownKey(chaintest.ChainOf(), ""))
	require.Less(t, len(chaintest.CooldownKey(&chaintest.Backend{ID: strings.Repeat("x", 1000)}, strings.Repeat("y", 1000))), 300)
}
