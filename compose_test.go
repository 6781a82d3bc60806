package clichain_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/compose"
)

var update = flag.Bool("update", false, "rewrite golden files")

// testHost is a machine that is always the same.
func testHost() compose.Host {
	return compose.Host{Path: "/opt/bin/cli", Dir: "/home/user/project", TempDir: "/tmp/clichain-test"}
}

func composerOf(t testing.TB, spec clichain.CliSpec) *compose.Composer {
	t.Helper()
	require.NoError(t, spec.Validate())
	return compose.New(&spec, nil)
}

func goldenText(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to make it")
	require.Equal(t, string(want), got)
}
