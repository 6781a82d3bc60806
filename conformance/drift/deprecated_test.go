package drift_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/drift"
	"github.com/clichain/clichain/conformance/home"
)

func TestDeprecated(t *testing.T) {
	lock := []byte(`{"packages": {
		"": {"dependencies": {"@old/cli": "0.73.1"}},
		"node_modules/@old/cli": {"version": "0.73.1", "deprecated": "please use @new/cli instead"},
		"node_modules/@new/cli": {"version": "1.0.0"}
	}}`)
	message, err := drift.Deprecated(lock, "@old/cli")
	require.NoError(t, err)
	require.Equal(t, "please use @new/cli instead", message)
	message, err = drift.Deprecated(lock, "@new/cli")
	require.NoError(t, err)
	require.Empty(t, message)
	_, err = drift.Deprecated(lock, "cli")
	require.Error(t, err)
	_, err = drift.Deprecated([]byte("{"), "cli")
	require.Error(t, err)
}

// A deprecated package gets no newer versions.
func TestNoPackageIsDeprecated(t *testing.T) {
	for _, of := range home.Installs() {
		message, err := drift.Deprecated(of.Lock(t), of.Package)
		require.NoError(t, err)
		require.Empty(t, message, "%s of %s", of.Package, of.CLI)
	}
}
