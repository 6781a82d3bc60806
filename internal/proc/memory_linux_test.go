package proc

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Memory includes the descendants of a process. For a process that has ended, it returns false.
func TestMemory(t *testing.T) {
	own, ok := Memory(os.Getpid())
	require.True(t, ok)
	require.Greater(t, own, int64(1<<20))
	child := exec.Command("sleep", "100")
	require.NoError(t, child.Start())
	of, ok := Memory(child.Process.Pid)
	require.True(t, ok)
	require.Positive(t, of)
	pages, ok := residentPages(os.Getpid())
	require.True(t, ok)
	together, ok := Memory(os.Getpid())
	require.True(t, ok)
	require.Greater(t, together, pages*int64(os.Getpagesize())/2+of/2, "the memory of the child is included")
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	_, ok = Memory(child.Process.Pid)
	require.False(t, ok)
}
