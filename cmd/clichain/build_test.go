package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/ask"
	"github.com/stretchr/testify/require"
)

// TestBuildMatchesAsk checks that build prints the command that ask runs, and does not run it.
func TestBuildMatchesAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	record := filepath.Join(t.TempDir(), "record")
	w.fake("claude", "record", record)
	flags := []string{"--system", "Be brief.", "--model", "opus", "--access", "read", "--dir", w.bin, "--max-turns", "3", "--only", "claude", "the question"}
	out, err := w.command(append([]string{"build", "--json"}, flags...)...).Output()
	require.NoError(t, err)
	require.NoFileExists(t, record)
	for _, kept := range []string{"question", "brief"} {
		require.NotContains(t, string(out), kept)
	}
	var built struct{ Backends []ask.Step }
	require.NoError(t, json.Unmarshal(out, &built))
	c := built.Backends[0].Command
	out, err = w.command(append([]string{"ask"}, flags...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	ran, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Equal(t, append([]string{c.Path}, c.Args...), withTemp(ran.Args))
	require.Equal(t, []any{c.Dir, c.Stdin}, []any{ran.Dir, len(ran.Stdin)})
}

// withTemp replaces the temporary directory of a call by "{temp}".
func withTemp(args []string) []string {
	for i, arg := range args {
		if strings.HasSuffix(arg, ".md") {
			args[i] = "{temp}/" + filepath.Base(arg)
		}
	}
	return args
}
