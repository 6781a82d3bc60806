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
	for _, test := range []struct{ name, line, want string }{ // want ends with cobra's number for what else the shell does
		{"access", "ask --access |", "none read write full :4"},
		{"access of a worker", "worker --max-access |", "none read write full :4"},
		{"with an equals sign", "ask --access=|", "none read write full :4"},
		{"who pays", "ask --billing |", "subscription api_key any :4"},
		{"sandbox", "batch --sandbox |", "auto on off :4"},
		{"format of a batch", "batch --format |", "jsonl json csv tsv text openai :4"},
		{"system mode", "build --system-mode |", "append replace :4"},
		{"priority", "submit --priority |", "high normal low :4"},
		{"reason", "dead list --reason |", reasons + ":4"},
		{"reason to drop", "dead drop --reason |", reasons + ":4"},
		{"backend", "ask --only |", names + " :4"},
		{"the next backend", "ask --only codex,claude,|", "codex,claude,gemini codex,claude,cursor-agent :4"},
		{"backend of a file", "ask --spec " + spec + " --only |", names + " mine :4"},
		{"backend of a file behind it", "models --only | --spec " + spec, names + " :4"}, // the shell has not seen it yet
		{"backend of a broken file", "ask --spec /none --only |", names + " :4"},
		{"model", "ask --model |", names + " :4"},
		{"program", "doctor --binary |", strings.ReplaceAll(names, " ", "= ") + "= :6"},
		{"path of a program", "doctor --binary claude=|", ":0"},
		{"account", "worker --account |", strings.ReplaceAll(names, " ", "= ") + "= :6"},
		{"name of an account", "worker --account claude=|", ":4"},
		{"raw argument", "ask --extra |", strings.ReplaceAll(names, " ", "= ") + "= :6"},
		{"file", "ask --image |", ":0"},
		{"short flag", "batch -i |", ":0"},
		{"file of JSON", "ask --schema |", "json :8"},
		{"file of specs", "ask --spec |", "json yaml yml :8"},
		{"directory", "ask --dir |", ":16"},
		{"folder", "status --store |", ":16"},
		{"file of settings", "serve --config |", "yaml yml json :8"},
		{"profile", "ask --config " + config + " --profile |", "ci work :4"},
		{"profile of no file", "batch --config off --profile |", ":4"},
		{"profile of a broken file", "models --config " + spec + " --profile |", ":4"},
		{"free text", "ask --system |", ":4"},
		{"prompt", "ask |", ":4"},
		{"no argument", "demo |", ":4"},
		{"argument that is a backend", "specs c|", "claude cursor-agent codex copilot :4"},
		{"argument that is a file", "specs lint |", "json yaml yml :8"},
		{"the other argument that is a file", "specs diff |", "json yaml yml :8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := completed(t, test.line, "")
			if test.name == "the next backend" {
				got = got[:len(test.want)-len(" :4")] + got[len(got)-len(" :4"):]
			}
			if test.name == "argument that is a backend" {
				require.Contains(t, got, "claude gemini") // the shell leaves out what does not begin so
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
		"name": true, "name=value": true, "number": true, "origin": true, "session": true, "text": true, "time": true,
		"tool": true, "url": true,
	}
	checked := 0
	env := &console.Env{Getenv: func(string) string { return "" }}
	root := newRoot(env)
	addCompletions(env, root)
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.NoOptDefVal != "" { // a bool
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
