package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/specs"
	"github.com/stretchr/testify/require"
)

func TestYAMLOutputErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.json")
	data, err := json.Marshal(specs.All()[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	for _, args := range [][]string{{"specs", "--yaml"}, {"specs", "claude", "--yaml"}, {"specs", "lint", file}} {
		var stderr bytes.Buffer
		env := &console.Env{In: strings.NewReader(""), Out: brokenWriter{}, Err: &stderr, Getenv: noSettings}
		require.Equal(t, console.ExitFailed, run(context.Background(), env, args), "%q", args)
		require.Contains(t, stderr.String(), "disk full")
	}
}
