package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/cmd/clichain/internal/inspect"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/stretchr/testify/require"
)

// settingsResolver returns a Resolver with its own settings file and environment.
func settingsResolver(t *testing.T, file, profile string, env map[string]string) *selection.Resolver {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	a := selection.NewResolver(&console.Env{Getenv: func(name string) string { return env[name] }})
	a.ConfigFlag, a.ProfileFlag = path, profile
	return a
}

// The error of an invalid environment variable must contain its value.
func TestInvalidVariables(t *testing.T) {
	for _, k := range selection.Entries {
		if k.Name == "specs" || k.Name == "cooldowns" {
			continue // any text may be a file name
		}
		t.Run(k.Name, func(t *testing.T) {
			a := settingsResolver(t, "", "", map[string]string{k.Variable: ","})
			c, err := a.Settings()
			require.NoError(t, err)
			require.ErrorContains(t, c.Invalid[k.Name], k.Variable+`=",": `)
			all := maps.Clone(c.Invalid)
			delete(all, k.Name)
			require.Empty(t, all)
			_, err = inspect.NewSettingsReport(a, selection.Catalog{})
			require.Equal(t, c.Invalid[k.Name], err)
		})
	}
}

// The example in the documentation must be valid, and contain every setting with its environment variable.
func TestSettingsPageExample(t *testing.T) {
	example := consoletest.Block(t, "Settings", "yaml")
	c, err := settingsResolver(t, example, "ci", nil).Settings()
	require.NoError(t, err)
	require.Equal(t, 20*time.Second, time.Duration(c.Timeout))
	for _, k := range selection.Entries {
		require.NotEmpty(t, k.Text(&c.File.Values), k.Name)
		require.Regexp(t, `(?m)^`+k.Name+`: .*# .* `+k.Variable+` `, example)
	}
	require.Len(t, c.File.Profiles, 2)
}
