package billing_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// The key of the usage windows belongs to the login. Names, programs and models do not change it.
func TestAccountKeyOfLogin(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("OPENAI_API_KEY", "one")
	t.Setenv("STRANGERS_KEY", "x")
	key := func(cfg clichain.Config) string {
		key, account := chaintest.AccountKey(clichain.NewProvider(specs.Codex(), &cfg))
		require.Empty(t, account)
		return key
	}
	usual := key(clichain.Config{})
	require.Regexp(t, `^[0-9a-f]{16}$`, usual)
	program := filepath.Join(t.TempDir(), "codex")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700))
	for name, same := range map[string]clichain.Config{
		"another program":                   {Binary: program},
		"a missing program":                 {Binary: "/nowhere/codex"},
		"another name":                      {Name: "codex-two"},
		"a model":                           {Model: "gpt-5.5"},
		"a variable that means no account":  {Env: []string{"WHO=me"}},
		"the environment that is not named": {InheritEnv: true},
	} {
		require.Equal(t, usual, key(same), name)
	}
	for name, other := range map[string]clichain.Config{
		"a home of the CLI":                  {Env: []string{"CODEX_HOME=/elsewhere"}},
		"another home":                       {Env: []string{"HOME=/elsewhere"}},
		"another key":                        {Env: []string{"OPENAI_API_KEY=two"}},
		"another service":                    {Env: []string{"OPENAI_BASE_URL=http://localhost"}},
		"a passed variable":                  {PassEnv: []string{"STRANGERS_KEY"}},
		"a container":                        {Container: &clichain.Container{Name: "box"}},
		"a plan in place of the key":         {Billing: call.BillingSubscription},
		"an instance with a home of its own": {Name: "codex-work", Env: []string{"CODEX_HOME=" + home + "/work"}},
	} {
		require.NotEqual(t, usual, key(other), name)
	}
	t.Setenv("OPENAI_API_KEY", "two")
	require.NotEqual(t, usual, key(clichain.Config{}))

	require.Equal(t, key(clichain.Config{}), first(chaintest.AccountKey(chaintest.Wrapper{Provider: clichain.NewProvider(specs.Codex(), nil)})))
	require.NotEqual(t, key(clichain.Config{}), first(chaintest.AccountKey(clichain.NewProvider(specs.Claude(), nil))))
	require.Empty(t, first(chaintest.AccountKey(&chaintest.Backend{ID: "function"})))
	require.Empty(t, first(chaintest.AccountKey(chaintest.ChainOf())))
	require.Empty(t, first(chaintest.AccountKey(clichain.NewProvider(clispec.Spec{Name: "invalid"}, nil))))
}

func first(key, _ string) string { return key }

// A spec that does not tell where its login is shares a key with no other spec.
func TestAccountKeyWithoutLoginRules(t *testing.T) {
	spec := specs.Codex()
	spec.Login, spec.ProviderSlug = clispec.LoginRules{}, ""
	other := spec
	other.Name = "other"
	key := first(chaintest.AccountKey(clichain.NewProvider(spec, nil)))
	require.NotEmpty(t, key)
	require.NotEqual(t, key, first(chaintest.AccountKey(clichain.NewProvider(other, nil))))
	t.Setenv("HOME", t.TempDir())
	require.NotEqual(t, key, first(chaintest.AccountKey(clichain.NewProvider(spec, nil))))
}

// Config.Account alone identifies the account of one vendor, on all machines.
func TestAccountKeyOfNamedAccount(t *testing.T) {
	key := func(spec clispec.Spec, cfg clichain.Config) string {
		key, account := chaintest.AccountKey(clichain.NewProvider(spec, &cfg))
		require.Equal(t, cfg.Account, account)
		return key
	}
	team := key(specs.Codex(), clichain.Config{Account: "team"})
	t.Setenv("HOME", "/another machine")
	require.Equal(t, team, key(specs.Codex(), clichain.Config{Account: "team", Name: "codex-two", Binary: "/bin/codex", Model: "m"}))
	require.NotEqual(t, team, key(specs.Codex(), clichain.Config{Account: "other"}))
	require.NotEqual(t, team, key(specs.Claude(), clichain.Config{Account: "team"}), "one name for the CLIs of two vendors")
	require.NotContains(t, team, "team")
}

func TestAccountIsValidated(t *testing.T) {
	t.Parallel()
	for _, account := range []string{"", "team", "me@example.com", "Büro 2", strings.Repeat("x", 200)} {
		require.NoError(t, clichain.Config{Account: account}.Validate(), account)
	}
	for _, account := range []string{" team", "team\n", "a\x1b[31mb", "a\u202eb", "\xff", strings.Repeat("x", 201)} {
		require.ErrorContains(t, clichain.Config{Account: account}.Validate(), "is no name: use at most 200 printable bytes", account)
	}
}

func BenchmarkAccountKey(b *testing.B) {
	p := clichain.NewProvider(specs.Claude(), &clichain.Config{Timeout: time.Second})
	for b.Loop() {
		_, _ = chaintest.AccountKey(p)
	}
}

// A call computes the key once.
func TestAccountKeyOfCallStays(t *testing.T) {
	codex := chaintest.CallOf(clichain.NewProvider(specs.Codex(), nil))
	key, _ := codex.AccountKey()
	t.Setenv("CODEX_HOME", t.TempDir())
	require.Equal(t, key, first(codex.AccountKey()))
	require.NotEqual(t, key, first(chaintest.AccountKey(clichain.NewProvider(specs.Codex(), nil))))
}
