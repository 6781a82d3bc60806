package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// exitWithoutCLIs runs a command line on a machine without any CLI, and returns the exit code.
func exitWithoutCLIs(t *testing.T, args ...string) int {
	t.Helper()
	env := &console.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: noSettings}
	return run(t.Context(), env, args)
}

// checkedValues are the names of values that a command checks before it looks for backends.
var checkedValues = strings.Fields("address amount backend=argument billing duration format name=account name=file number " +
	"permission share time url")

// checkedFlags are further flags whose value a command checks before it looks for backends.
var checkedFlags = strings.Fields("access max-access priority only sandbox system-mode dir add-dir image schema spec " +
	"system-file prompt-file agents mcp-config config")

func TestInvalidUseExitsWithTwo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	checked, missing := 0, filepath.Join(t.TempDir(), "missing")
	eachShownCommand(t, func(t *testing.T, cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		exits := func(args ...string) {
			checked++
			require.Equal(t, console.ExitUsage, exitWithoutCLIs(t, append(slices.Clone(path), args...)...), "%q", args)
		}
		exits("--no-such-flag")
		exits("-Q")
		if cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		exits("no-such", "extra", "argument", "here")
		if strings.Contains(cmd.Use, " ID") || strings.Contains(cmd.Use, " FILE") || strings.Contains(cmd.Use, " KEY") ||
			strings.Contains(cmd.Use, " DIRECTORY") {
			exits()
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.NoOptDefVal != "" {
				exits("--" + flag.Name + "=perhaps")
				return
			}
			exits("--" + flag.Name) // without a value
			if cmd.Parent().Name() == "config" && flag.Name == "config" {
				return // these commands also take a file that does not exist
			}
			value, _ := console.FlagText(flag)
			if slices.Contains(checkedValues, value) || slices.Contains(checkedFlags, flag.Name) {
				exits("--"+flag.Name, filepath.Join(missing, "such:value?"))
			}
		})
	})
	require.Greater(t, checked, 400)
}

func TestInvalidCombinationsExitWithTwo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, line := range []string{
		"ask --no-stdin", "ask --agent hi", "ask --dir . hi", "ask --continue --session x hi", "ask --no-stdin -", "build --no-stdin", "build a b",
		"batch --retry-side-effects -i x", "batch -i /no/such/file", "batch --queue q -i x",
		"specs no-such-backend", "specs lint", "specs diff", "specs --json --yaml", "doctor --json --markdown",
		"queue result", "queue result id", "queue status", "queue retry", "queue retry --all id", "queue drop id", "queue submit hi",
		"worker", "worker --store s --nats nats://127.0.0.1:1", "cooldowns clear no-such-backend", "help no-such-command",
		"config set timeout", "config set timeout 5", "config set no-such 5s --config /no/such/file", "config unset",
	} {
		require.Equal(t, console.ExitUsage, exitWithoutCLIs(t, strings.Fields(line)...), line)
	}
}
