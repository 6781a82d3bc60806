package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/specs"
	"github.com/stretchr/testify/require"
)

// TestYAMLKeepsText: what YAML would take for something else has quotes.
func TestYAMLKeepsText(t *testing.T) {
	hints := map[string]string{}
	for _, word := range []string{"no", "1", "1.10", "null", "~", "", " x ", "a: b", "#x", "- x", "*x", "'", "\"", "\n", "a\nb\n", "\t", "{a}", "<<", "2026-11-20", "😀", "\u2028", "\x7f", strings.Repeat("long ", 60)} {
		hints[word] = word
	}
	spec := map[string]any{"name": "mine", "binary": "mine", "models": map[string]any{"aliases": hints}}
	delete(hints, "") // stands for no model
	var out bytes.Buffer
	require.NoError(t, writeYAML(&out, spec))
	list, err := specs.Load(&out)
	require.NoError(t, err)
	require.Equal(t, hints, list[0].Models.Aliases)
}

func TestYAMLOutputErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.json")
	data, err := json.Marshal(specs.All()[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	for _, args := range [][]string{{"specs", "--yaml"}, {"specs", "claude", "--yaml"}, {"specs", "lint", file}} {
		var stderr bytes.Buffer
		a := &app{in: strings.NewReader(""), out: brokenWriter{}, err: &stderr, env: noSettings}
		require.Equal(t, exitFailed, run(context.Background(), a, args), "%q", args)
		require.Contains(t, stderr.String(), "disk full")
	}
}
