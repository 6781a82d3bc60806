package proc_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
)

// depthVariable makes the test binary print its depth.
const depthVariable = "PROC_TEST_DEPTH"

// printDepth prints the depth and exits, if the test asked for that.
func printDepth() {
	if os.Getenv(depthVariable) != "" {
		fmt.Print(proc.Depth())
		os.Exit(0)
	}
}

// A CLI starts a program without passing its environment, as codex starts MCP servers. The shell that starts env is in
// the place of the CLI.
func TestDepthWithoutEnvironment(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	var out bytes.Buffer
	script := fmt.Sprintf("/usr/bin/env -i %s=1 '%s'; true", depthVariable, self)
	_, err = proc.Run(t.Context(), proc.Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out,
		Grace: time.Second, Teardown: time.Minute,
	})
	require.NoError(t, err)
	require.Equal(t, "1", out.String())
}
