package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/settings"
	"github.com/stretchr/testify/require"
)

// settingsApp has a settings file and an environment of its own.
func settingsApp(t *testing.T, file, profile string, env map[string]string) *app {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	return &app{Env: &console.Env{Getenv: func(name string) string { return env[name] }}, from: settingsFlags{config: path, profile: profile}}
}

// TestSettle: what no flag says comes from the environment, the profile, or the file, in this order.
func TestSettle(t *testing.T) {
	const file = `
timeout: 1m
agent_timeout: 10m
budget: 4m
billing: subscription
profiles: {p: {timeout: 2m, agent_timeout: 20m, budget: 5m, billing: any}}
`
	env := map[string]string{timeoutVariable: "3m", agentTimeoutVariable: "30m", budgetVariable: "6m", billingVariable: "api_key"}
	var flags param.Values
	flags.Config.Timeout, flags.Budget, flags.Billing = 9*time.Minute, 8*time.Minute, "subscription"
	for _, test := range []struct {
		name, file, profile    string
		env                    map[string]string
		flags                  param.Values
		timeout, agent, budget time.Duration
		billing                call.Billing
	}{
		{name: "nothing"},
		{name: "the file", file: file, timeout: 1, agent: 10, budget: 4, billing: "subscription"},
		{name: "the profile", file: file, profile: "p", timeout: 2, agent: 20, budget: 5},
		{name: "the environment", file: file, profile: "p", env: env, timeout: 3, agent: 30, budget: 6, billing: "api_key"},
		{name: "the environment alone", env: env, timeout: 3, agent: 30, budget: 6, billing: "api_key"},
		{name: "flags", file: file, profile: "p", env: env, flags: flags, timeout: 9, agent: 9, budget: 8, billing: "subscription"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, agent := range []bool{false, true} {
				a, f, want := settingsApp(t, test.file, test.profile, test.env), test.flags, test.timeout
				if f.Config.Agent = agent; agent {
					want = test.agent
				}
				require.NoError(t, a.settle(&f))
				require.Equal(t, want*time.Minute, f.Config.Timeout)
				require.Equal(t, test.budget*time.Minute, f.Budget)
				require.Equal(t, test.billing, f.Config.Billing)
			}
		})
	}
}

// TestWrongVariables: each is told with its value, and not where a flag stands in for it.
func TestWrongVariables(t *testing.T) {
	for _, k := range knobs {
		if k.name == "specs" || k.name == "cooldowns" {
			continue // any text may be a file
		}
		t.Run(k.name, func(t *testing.T) {
			a := settingsApp(t, "", "", map[string]string{k.variable: ","})
			c, err := a.settings()
			require.NoError(t, err)
			require.ErrorContains(t, c.wrong[k.name], k.variable+`=",": `)
			all := maps.Clone(c.wrong)
			delete(all, k.name)
			require.Empty(t, all)
			_, err = a.settingsReport(catalog{})
			require.Equal(t, c.wrong[k.name], err)
		})
	}
}

// TestKnobs: every field of the file is a setting that is read, shown and chosen.
func TestKnobs(t *testing.T) {
	texts := map[string]string{
		"order": "claude,codex", "timeout": "1m0s", "agent_timeout": "2m0s", "budget": "3m0s",
		"specs": "/a" + string(os.PathListSeparator) + "/b", "billing": "any", "cooldowns": "/c",
	}
	full := settings.Values{
		Order: []string{"claude", "codex"}, Timeout: settings.Duration(time.Minute), AgentTimeout: settings.Duration(2 * time.Minute),
		Budget: settings.Duration(3 * time.Minute), Specs: []string{"/a", "/b"}, Billing: "any", Cooldowns: "/c",
	}
	var read, copied settings.Values
	require.Len(t, knobs, len(texts))
	for _, k := range knobs {
		require.NoError(t, k.read(&read, texts[k.name]))
		require.Equal(t, texts[k.name], k.text(&full))
		require.Empty(t, k.text(&settings.Values{}))
		k.copy(&copied, &full)
	}
	require.Equal(t, full, read)
	require.Equal(t, full, copied)
}

// TestNoSettingsOfAFolder: what decides does not depend on where the command runs.
func TestNoSettingsOfAFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".config", "clichain"), 0o700))
	for _, name := range []string{"config.yaml", "clichain.yaml", ".clichain.yaml", ".config/clichain/config.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("order: [agy]\n"), 0o600))
	}
	t.Chdir(dir)
	for name, env := range map[string]map[string]string{
		"nothing": {}, "a home here": {"HOME": "."}, "a folder here": {"XDG_CONFIG_HOME": ".config", "HOME": "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", env["HOME"])
			t.Setenv("XDG_CONFIG_HOME", env["XDG_CONFIG_HOME"])
			a := &app{Env: &console.Env{Getenv: func(string) string { return "" }}}
			c, err := a.settings()
			require.NoError(t, err)
			require.Nil(t, c.file)
			require.Empty(t, c.Order)
		})
	}
}

// TestSettingsOnThePage: the example has every setting with its variable, and is one that is read.
func TestSettingsOnThePage(t *testing.T) {
	example := block(t, "Settings", "yaml")
	c, err := settingsApp(t, example, "ci", nil).settings()
	require.NoError(t, err)
	require.Equal(t, 20*time.Second, time.Duration(c.Timeout))
	for _, k := range knobs {
		require.NotEmpty(t, k.text(&c.file.Values), k.name)
		require.Regexp(t, `(?m)^`+k.name+`: .*# .* `+k.variable+` `, example)
	}
	require.Len(t, c.file.Profiles, 2)
}
