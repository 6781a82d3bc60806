package cooldown

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writerRole makes a process of this program write until it is killed: it names
// the store's file.
const writerRole = "CLICHAIN_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerRole); path != "" {
		write(path)
	}
	os.Exit(m.Run())
}

// write writes states, and tells of each that is kept.
func write(path string) {
	s := NewFile(path, func(err error) { fmt.Fprintln(os.Stderr, err) })
	for i := 1; ; i++ {
		if err := s.Update(context.Background(), storeKey(i), put(aState(i))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

func storeKey(i int) string { return fmt.Sprint("key", i%50) }

// A process that is killed in the middle of a write loses nothing that it had
// been told is kept, and leaves nothing that is in the way of the next one.
func TestKilledWriters(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "cooldowns.json")
	s, _ := fileStore(t, path)
	unfinished := 0
	for range rounds {
		kept := killWriter(t, path)
		if _, err := os.Stat(path + ".new"); err == nil {
			unfinished++
		}
		for i := max(1, kept-49); i <= kept; i++ {
			state, err := s.Load(t.Context(), storeKey(i))
			require.NoError(t, err)
			require.GreaterOrEqual(t, state.Failures, i)
		}
		require.NoError(t, s.Update(t.Context(), "after", put(aState(1))))
		require.NoError(t, os.Remove(path))
	}
	t.Logf("%d of %d were killed before the new file was in place", unfinished, rounds)
	if !testing.Short() {
		require.NotZero(t, unfinished)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "the lock alone: %v", left)
}

// killWriter lets a process write for a while; kept is the last write that it
// was told is done.
func killWriter(t *testing.T, path string) (kept int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), writerRole+"="+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	end := 1 + rand.IntN(60)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		kept, err = strconv.Atoi(lines.Text())
		require.NoError(t, err)
		if kept == end {
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond) // somewhere in the next one
			require.NoError(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // it was killed
	require.Empty(t, stderr.String())
	require.GreaterOrEqual(t, kept, end)
	return kept
}
