package proc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsBatch(t *testing.T) { // case 19
	for _, name := range []string{"a.bat", "a.cmd", "A.CMD", `C:\x\claude.Cmd`, "a.bat ", "a.Bat.", "a.cmd . ."} {
		require.True(t, isBatch(name), name)
	}
	for _, name := range []string{"a.exe", "cmd", "bat", "a.cmd.exe", "a.bats", ""} {
		require.False(t, isBatch(name), name)
	}
}
