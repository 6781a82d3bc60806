package failover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/compose"
)

// testHost returns a machine with fixed properties.
func testHost() compose.Host {
	return compose.Host{Path: "/opt/bin/cli", Dir: "/home/user/project", TempDir: "/tmp/clichain-test"}
}

func composerOf(t testing.TB, spec clichain.CliSpec) *compose.Composer {
	t.Helper()
	require.NoError(t, spec.Validate())
	return compose.New(&spec, nil)
}
