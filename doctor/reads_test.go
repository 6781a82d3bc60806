package doctor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/internal/chaintest"
)

// A diagnosis reads only, even where a call would create directories.
func TestDiagnosisCreatesNothing(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, play(stdout("never")))
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	chaintest.LogIn(t)
	doctor.Diagnose(t.Context(), allProviders(nil), nil)
	left, err := os.ReadDir(home)
	require.NoError(t, err)
	require.Empty(t, left)
}
