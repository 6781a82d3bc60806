package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/stretchr/testify/require"
)

func TestOptionsReachCLI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	record := filepath.Join(t.TempDir(), "record")
	w.fake("claude", "record", record)
	handle := "claude." + base64.RawURLEncoding.EncodeToString([]byte("0199abcd-0000-7000-8000-000000000001"))
	cmd := w.command("ask", "--system", "Be brief.", "--model", "opus", "--access", "read", "--effort", "high", "--max-turns", "3",
		"--max-budget-usd", "0.5", "--session", handle, "--dir", w.bin, "--pass-env", "MINE,TEAM_*", "--", "-p")
	cmd.Env = append(cmd.Env, "MINE=1", "TEAM_A=2", "OTHER=3")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "recorded\n", string(out))
	r, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	args := strings.Join(r.Args, " ")
	for _, want := range []string{"--model opus", "--effort high", "--max-turns 3", "--max-budget-usd 0.5", "--resume 0199abcd-0000-7000-8000-000000000001", "--tools Read,Grep,Glob", "--append-system-prompt-file "} {
		require.Contains(t, args, want)
	}
	require.Equal(t, "-p", string(r.Stdin))
	require.Equal(t, w.bin, r.Dir)
	require.Subset(t, r.Env, []string{"MINE=1", "TEAM_A=2"})
	require.NotContains(t, r.Env, "OTHER=3")
}

// TestSchemaReachesCLI checks that the CLI receives the schema, and that clichain validates the answer against it.
func TestSchemaReachesCLI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	record, schema, spec := filepath.Join(dir, "record"), filepath.Join(dir, "schema.json"), filepath.Join(dir, "spec.json")
	require.NoError(t, os.WriteFile(schema, []byte(`{"type":"object"}`), 0o600))
	require.NoError(t, os.WriteFile(spec, []byte(`{"name":"mine","binary":"mine","args":[
		{"args":["--schema={schema}"],"when":{"set":["schema"]}},{"args":["{prompt}"]}]}`), 0o600))
	w.fake("mine", "record", record) // the answer is not JSON
	out, err := w.command("ask", "--spec", spec, "--only", "mine", "--schema", schema, "hi").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "does not match the schema")
	r, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Equal(t, `--schema={"type":"object"}`, r.Args[1])
	require.Contains(t, r.Args[2], "hi", "which is asked for once more, with what was wrong")
	require.NotEqual(t, "hi", r.Args[2])
}

// TestLargeInput sends 300 kB to a CLI, which must return them unchanged.
func TestLargeInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := filepath.Join(t.TempDir(), "spec.json")
	require.NoError(t, os.WriteFile(spec, []byte(`{"name":"echo","binary":"echo","transports":["stdin"],"args":[{"args":["-"]}]}`), 0o600))
	w.fake("echo", "echo", "")
	text := strings.Repeat("0123456789\n", 300_000/11) + "end"
	cmd := w.command("ask", "--only", "echo", "--spec", spec)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	require.NoError(t, err)
	require.True(t, text+"\n" == string(out), "%d bytes became %d", len(text), len(out))
}

func TestAskRejectsInvalidText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "no")
	cmd := w.command("ask")
	cmd.Stdin = strings.NewReader("a\x00b")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 2, cmd.ProcessState.ExitCode())
	require.Equal(t, "clichain: bad_request (PROMPT): NUL byte at offset 1: remove it\n", string(out))
}

// noSettings is an empty environment that also disables the settings file of the user.
func noSettings(name string) string {
	if name == selection.ConfigVariable {
		return "off"
	}
	return ""
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestOutputErrors checks the exit code of each command that cannot write its output.
func TestOutputErrors(t *testing.T) {
	for _, args := range [][]string{{"specs"}, {"specs", "claude"}, {"specs", "--json"}, {"doctor"}, {"doctor", "--json"}, {"build", "hi"}, {"build", "--json", "hi"}, {"models"}, {"models", "--json"}, {"config"}, {"config", "--json"}, {"config", "path", "--config", "x"}, {"version"}, {"version", "--json"}} {
		var stderr bytes.Buffer
		env := &console.Env{In: strings.NewReader(""), Out: brokenWriter{}, Err: &stderr, Getenv: noSettings}
		require.Equal(t, console.ExitFailed, run(context.Background(), env, args), "%q", args)
	}
}
