package doctor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/doctor"
)

// A diagnosis reads only, even where a call would create directories.
func TestDiagnosisCreatesNothing(t *testing.T) {
	home, _ := freshMachine(t, play(stdout("never")))
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	logIn(t)
	doctor.Diagnose(t.Context(), allProviders(nil), nil)
	left, err := os.ReadDir(home)
	require.NoError(t, err)
	require.Empty(t, left)
}
