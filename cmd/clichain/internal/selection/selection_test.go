package selection

import (
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

// resolverOf returns a Resolver with the given settings file and environment.
func resolverOf(t *testing.T, file, profile string, env map[string]string) *Resolver {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	r := NewResolver(&console.Env{Getenv: func(name string) string { return env[name] }})
	r.ConfigFlag, r.ProfileFlag = path, profile
	return r
}

// TestSettle checks that the environment overrides the profile, and that the profile overrides the file.
func TestSettle(t *testing.T) {
	const file = `
timeout: 1m
agent_timeout: 10m
budget: 4m
billing: subscription
profiles: {p: {timeout: 2m, agent_timeout: 20m, budget: 5m, billing: any}}
`
	env := map[string]string{TimeoutVariable: "3m", agentTimeoutVariable: "30m", BudgetVariable: "6m", billingVariable: "api_key"}
	var flags param.Values
	flags.Config.Timeout, flags.Budget, flags.Billing = 9*time.Minute, 8*time.Minute, "subscription"
	for _, test := range []struct {
		name, file, profile    string
		env                    map[string]string
		flags                  param.Values
		timeout, agent, budget time.Duration
		billing                call.Billing
	}{
		{name: "defaults"},
		{name: "value in the file", file: file, timeout: 1, agent: 10, budget: 4, billing: "subscription"},
		{name: "value in the profile", file: file, profile: "p", timeout: 2, agent: 20, budget: 5},
		{name: "value in the environment", file: file, profile: "p", env: env, timeout: 3, agent: 30, budget: 6, billing: "api_key"},
		{name: "value only in the environment", env: env, timeout: 3, agent: 30, budget: 6, billing: "api_key"},
		{name: "flags", file: file, profile: "p", env: env, flags: flags, timeout: 9, agent: 9, budget: 8, billing: "subscription"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, agent := range []bool{false, true} {
				a, f, want := resolverOf(t, test.file, test.profile, test.env), test.flags, test.timeout
				if f.Config.Agent = agent; agent {
					want = test.agent
				}
				require.NoError(t, a.Settle(&f))
				require.Equal(t, want*time.Minute, f.Config.Timeout)
				require.Equal(t, test.budget*time.Minute, f.Budget)
				require.Equal(t, test.billing, f.Config.Billing)
			}
		})
	}
}

// TestEntries checks that clichain reads, shows and uses every field of the settings file.
func TestEntries(t *testing.T) {
	texts := map[string]string{
		"order": "claude,codex", "timeout": "1m0s", "agent_timeout": "2m0s", "budget": "3m0s",
		"specs": "/a" + string(os.PathListSeparator) + "/b", "billing": "any", "confine": "required", "cooldowns": "/c",
		"accounts": "claude=team", "reserve": "0.3,codex=0.5", "usage.log": "on", "usage.content": "off",
		"conversations": "on", "conversations.age": "168h0m0s",
	}
	full := settings.Values{
		Order: []string{"claude", "codex"}, Timeout: settings.Duration(time.Minute), AgentTimeout: settings.Duration(2 * time.Minute),
		Budget: settings.Duration(3 * time.Minute), Specs: []string{"/a", "/b"}, Billing: "any",
		Confine: "required", Cooldowns: "/c", UsageLog: settings.On, UsageContent: settings.Off, Reserve: "0.3,codex=0.5",
		Accounts: "claude=team", Conversations: settings.On, ConversationsAge: settings.Duration(168 * time.Hour),
	}
	var read, copied settings.Values
	require.Len(t, Entries, len(texts))
	for _, k := range Entries {
		require.NoError(t, k.read(&read, texts[k.Name]))
		require.Equal(t, texts[k.Name], k.Text(&full))
		require.Empty(t, k.Text(&settings.Values{}))
		k.copy(&copied, &full)
	}
	require.Equal(t, full, read)
	require.Equal(t, full, copied)
}

// The settings must not depend on the working directory.
func TestSettingsIgnoreWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".config", "clichain"), 0o700))
	for _, name := range []string{"config.yaml", "clichain.yaml", ".clichain.yaml", ".config/clichain/config.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("order: [agy]\n"), 0o600))
	}
	t.Chdir(dir)
	for name, env := range map[string]map[string]string{
		"defaults": {}, "home in the working directory": {"HOME": "."}, "XDG directory in the working directory": {"XDG_CONFIG_HOME": ".config", "HOME": "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", env["HOME"])
			t.Setenv("XDG_CONFIG_HOME", env["XDG_CONFIG_HOME"])
			a := NewResolver(&console.Env{Getenv: func(string) string { return "" }})
			c, err := a.Settings()
			require.NoError(t, err)
			require.Nil(t, c.File)
			require.Empty(t, c.Order)
		})
	}
}

// Each account comes from the flag, else from the setting.
func TestSettleAccounts(t *testing.T) {
	var f param.Values
	f.SetAccount("claude", "mine")
	r := resolverOf(t, "accounts: claude=team, codex=work\n", "", nil)
	require.NoError(t, r.Settle(&f))
	require.Equal(t, map[string]string{"claude": "mine", "codex": "work"}, f.Accounts)
	require.Error(t, resolverOf(t, "", "", map[string]string{"CLICHAIN_ACCOUNTS": "team"}).Settle(&f))
}
