package clichain_test

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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
)

// storeRole makes a process of this program use a store: "call" or "write", a
// colon and the store's file.
const storeRole = "CLICHAIN_TEST_STORE"

// playStore is such a process, which runs no tests.
func playStore() {
	role, path, ok := strings.Cut(os.Getenv(storeRole), ":")
	if !ok {
		return
	}
	s := cooldown.NewFile(path, func(err error) { fmt.Fprintln(os.Stderr, err) })
	switch role {
	case "call":
		a, next := failing("a", clichain.ReasonUsageLimit), &backend{name: "next"}
		resp, err := clichain.ChainOf([]clichain.Backend{a, next}, &clichain.ChainConfig{Store: s}).Complete(context.Background(), clichain.Prompt("hi"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(resp.Attempts[0].Reason)
	case "write":
		for i := 1; ; i++ {
			if err := s.Update(context.Background(), storeKey(i), put(aRest(i))); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(i)
		}
	}
	os.Exit(0)
}

func storeKey(i int) string { return fmt.Sprint("key", i%50) }

func storeProcess(role, path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^$") // even if it were to test, it would find nothing
	cmd.Env = append(os.Environ(), storeRole+"="+role+":"+path)
	return cmd
}

// One process meets a limit, the next one does not.
func TestProcessesShareRests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	for _, want := range []clichain.Reason{clichain.ReasonUsageLimit, clichain.ReasonCoolingDown, clichain.ReasonCoolingDown} {
		out, err := storeProcess("call", path).CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, string(want)+"\n", string(out))
	}
	// So does one that has been running for longer.
	a := failing("a", clichain.ReasonUsageLimit)
	s, _ := fileStore(t, path)
	start := time.Now()
	_, err := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Store: s}).Complete(t.Context(), clichain.Prompt("hi"))
	t.Logf("skipped in %v", time.Since(start))
	require.ErrorIs(t, err, clichain.ErrCoolingDown)
	require.Zero(t, a.asked)
}

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
			rest, err := s.Load(t.Context(), storeKey(i))
			require.NoError(t, err)
			require.GreaterOrEqual(t, rest.Failures, i)
		}
		require.NoError(t, s.Update(t.Context(), "after", put(aRest(1))))
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
	cmd := storeProcess("write", path)
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
