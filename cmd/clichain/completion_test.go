package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestCompletion(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(spec, []byte("{name: mine, binary: mine, args: [{args: ['{prompt}']}]}"), 0o600))
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("profiles: {work: {}, ci: {budget: 1m}}"), 0o600))
	reasons := ""
	for _, reason := range call.Reasons() {
		reasons += string(reason) + " "
	}
	names := strings.Join(selection.BuiltinNames(), " ")
	for _, test := range []struct{ name, line, want string }{ // want ends with the number of cobra's completion directive
		{"access", "ask --access |", "none read write full :4"},
		{"access of a worker", "worker --max-access |", "none read write full :4"},
		{"with an equals sign", "ask --access=|", "none read write full :4"},
		{"billing", "ask --billing |", "subscription api_key any :4"},
		{"sandbox", "batch --sandbox |", "auto on off :4"},
		{"format of a batch", "batch --format |", "jsonl json csv tsv text openai :4"},
		{"system mode", "build --system-mode |", "append replace :4"},
		{"priority", "queue submit --priority |", "high normal low :4"},
		{"reason", "queue list --reason |", reasons + ":4"},
		{"reason to drop", "queue drop --reason |", reasons + ":4"},
		{"state", "queue list --state |", "waiting running parked dead :4"},
		{"backend", "ask --only |", names + " :4"},
		{"next backend in a list", "ask --only codex,claude,|", "codex,claude,gemini codex,claude,cursor-agent :4"},
		{"backend of a spec file", "ask --spec " + spec + " --only |", names + " mine :4"},
		{"backend of a spec file after the cursor", "models --only | --spec " + spec, names + " :4"}, // the spec file comes after the cursor
		{"backend of a missing spec file", "ask --spec /none --only |", names + " :4"},
		{"model", "ask --model |", names + " :4"},
		{"program", "doctor --binary |", strings.ReplaceAll(names, " ", "= ") + "= :6"},
		{"path of a program", "doctor --binary claude=|", ":0"},
		{"account", "worker --account |", strings.ReplaceAll(names, " ", "= ") + "= :6"},
		{"name of an account", "worker --account claude=|", ":4"},
		{"raw argument", "ask --extra |", strings.ReplaceAll(names, " ", "= ") + "= :6"},
		{"file", "ask --image |", ":0"},
		{"short flag", "batch -i |", ":0"},
		{"JSON file", "ask --schema |", "json :8"},
		{"spec file", "ask --spec |", "json yaml yml :8"},
		{"directory", "ask --dir |", ":16"},
		{"store directory", "queue status --store |", ":16"},
		{"settings file", "serve --config |", "yaml yml json :8"},
		{"profile", "ask --config " + config + " --profile |", "ci work :4"},
		{"profile without a settings file", "batch --config off --profile |", ":4"},
		{"profile of an invalid settings file", "models --config " + spec + " --profile |", ":4"},
		{"free text", "ask --system |", ":4"},
		{"prompt", "ask |", ":4"},
		{"no argument", "demo |", ":4"},
		{"backend argument", "specs c|", "claude cursor-agent codex copilot :4"},
		{"file argument", "specs lint |", "json yaml yml :8"},
		{"file argument of another command", "specs diff |", "json yaml yml :8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := completed(t, test.line, "")
			if test.name == "next backend in a list" {
				got = got[:len(test.want)-len(" :4")] + got[len(got)-len(" :4"):]
			}
			if test.name == "backend argument" {
				require.Contains(t, got, "claude gemini") // the shell filters by prefix
				return
			}
			require.Equal(t, test.want, got)
		})
	}
	require.Contains(t, completed(t, "ask --only |", spec), " mine :4", "of the environment's file")
}

// completed returns the completions of a command line up to the cursor.
func completed(t *testing.T, line, specs string) string {
	t.Helper()
	before, _, _ := strings.Cut(line, "|")
	var out, diagnostics bytes.Buffer
	env := &console.Env{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Getenv: func(name string) string {
		return map[string]string{selection.SpecsVariable: specs, selection.ConfigVariable: "off"}[name]
	}}
	require.Zero(t, run(context.Background(), env, append([]string{cobra.ShellCompRequestCmd}, strings.Split(before, " ")...)))
	return strings.Join(strings.Split(strings.TrimSpace(out.String()), "\n"), " ")
}

// Every flag must have a completion, or the name of its value must be listed here as free-form.
func TestEveryFlagCompletes(t *testing.T) {
	free := map[string]bool{
		"address": true, "amount": true, "duration": true, "id": true, "level": true, "mode": true, "model": true,
		"name": true, "name=model": true, "name=value": true, "number": true, "origin": true, "session": true, "share": true, "text": true,
		"time": true, "tool": true, "url": true,
	}
	checked := 0
	env := &console.Env{Getenv: func(string) string { return "" }}
	root := newRoot(env)
	addCompletions(env, root)
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.NoOptDefVal != "" { // a boolean flag
				return
			}
			checked++
			word, _ := pflag.UnquoteUsage(flag)
			if _, ok := cmd.GetFlagCompletionFunc(flag.Name); !ok && !free[word] && !free[strings.TrimSuffix(word, "s")] {
				t.Errorf("%s --%s %s has no completion", cmd.CommandPath(), flag.Name, word)
			}
		})
	})
	require.Greater(t, checked, 100)
}
