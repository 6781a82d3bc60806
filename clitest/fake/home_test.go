package fake_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// insideVariable makes TestRunUsesOwnHome print the environment that Run has prepared.
const insideVariable = "CLITEST_INSIDE_RUN"

func TestRunUsesOwnHome(t *testing.T) {
	if os.Getenv(insideVariable) != "" {
		inside(t)
		return
	}
	temp, home := t.TempDir(), t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunUsesOwnHome$", "-test.v")
	cmd.Env = append(os.Environ(), insideVariable+"=1", "HOME="+home, "USERPROFILE="+home, "TMPDIR="+temp, "TMP="+temp,
		"TEMP="+temp, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "GOENV=", "GOPATH=", "GOCACHE="+home)
	stdout, stderr, status := finish(t, cmd, "")
	require.Zero(t, status, stdout+stderr)
	require.Contains(t, stdout, "GOPATH="+filepath.Join(home, "go")+"\n")
	require.Contains(t, stdout, "GOCACHE="+home+"\n")
	for _, name := range []string{"HOME", "TMPDIR"} {
		require.Contains(t, stdout, name+"="+filepath.Join(temp, "clitest-"))
	}
	for _, dir := range []string{temp, home} {
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// inside is the test in its own home.
func inside(t *testing.T) {
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(cache, home), "%s is not below %s", cache, home)
	for _, dir := range []string{home, os.TempDir()} {
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "of a test"), nil, 0o600))
	}
	require.Empty(t, os.Getenv("XDG_STATE_HOME"))
	for name, value := range map[string]string{
		"HOME": home, "TMPDIR": os.TempDir(), "GOPATH": os.Getenv("GOPATH"), "GOCACHE": os.Getenv("GOCACHE"),
	} {
		fmt.Printf("%s=%s\n", name, value)
	}
}
