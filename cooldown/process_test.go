package cooldown

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writerRole makes a process of this program write until it is killed: it names
// the store's file.
const writerRole = "CLICHAIN_TEST_WRITER"

// contenderRole makes a process of this program write a few times, and tell how
// often it gave up: it names the store's file.
const contenderRole = "CLICHAIN_TEST_CONTENDER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerRole); path != "" {
		write(path)
	}
	if path := os.Getenv(contenderRole); path != "" {
		contend(path)
	}
	os.Exit(m.Run())
}

// write writes states, and tells of each that is kept. On a busy machine a write may give up for the time that it takes,
// and is tried again.
func write(path string) {
	report := func(err error) {
		if !errors.Is(err, context.DeadlineExceeded) {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	s := NewFile(path, report)
	for i := 1; ; i++ {
		err := s.Update(context.Background(), storeKey(i), put(aState(i)))
		for errors.Is(err, context.DeadlineExceeded) {
			err = s.Update(context.Background(), storeKey(i), put(aState(i)))
		}
		if err != nil {
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
	const most = 200
	rounds := 40
	switch {
	case testing.Short():
		rounds = 20
	case os.Getenv("CLICHAIN_CONFORMANCE") == "long":
		rounds = most
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "cooldowns.json")
	s, _ := fileStore(t, path)
	unfinished, n := 0, 0
	// One of them at least has to be killed between the two files, or else nothing is shown.
	for ; n < rounds || unfinished == 0 && n < most; n++ {
		kept := killWriter(t, path, n%2 == 0)
		if _, err := os.Stat(path + ".new"); err == nil {
			unfinished++
		}
		states, err := s.States(t.Context()) // at once: to read the file for each key took longer than its writer
		require.NoError(t, err)
		for i := max(1, kept-49); i <= kept; i++ {
			require.GreaterOrEqual(t, states[storeKey(i)].Failures, i)
		}
		require.NoError(t, s.Update(t.Context(), "after", put(aState(1))))
		require.NoError(t, os.Remove(path))
	}
	t.Logf("%d of %d were killed before the new file was in place", unfinished, n)
	require.NotZero(t, unfinished)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2, "the locks alone: %v", left)
}

// killWriter lets a process write for a while, and kills it: aimed, as soon as
// there is a new file beside the old one, or else at any time. kept is the last
// write that it was told is done.
func killWriter(t *testing.T, path string, aimed bool) (kept int) {
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
			if aimed {
				appears(path + ".new")
			} else {
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond) // somewhere in the next one
			}
			require.NoError(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // it was killed
	require.Empty(t, stderr.String())
	require.GreaterOrEqual(t, kept, end)
	return kept
}

// appears waits for a file that is there for a moment only, again and again. Who
// never sees it gives up: it is a matter of luck.
func appears(name string) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
}

func contend(path string) {
	s, gaveUp := NewFile(path, nil), 0
	for i := range 32 {
		if s.Update(context.Background(), storeKey(i), func(s State) State { return aState(s.Failures + 1) }) != nil {
			gaveUp++
		}
	}
	fmt.Print(gaveUp)
	os.Exit(0)
}

// Of eight processes that do nothing else, each has its turn in time, unless the
// machine holds it up; and what was not given up is kept.
func TestProcessesWriteInTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	var all sync.WaitGroup
	var gaveUp atomic.Int64
	for range 8 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), contenderRole+"="+path, "GORACE=atexit_sleep_ms=0") // which would cost a second each
			out, err := cmd.Output()
			assert.NoError(t, err)
			n, err := strconv.ParseInt(string(out), 10, 64)
			assert.NoError(t, err)
			gaveUp.Add(n)
		})
	}
	all.Wait()
	t.Logf("%d of 256 updates gave up", gaveUp.Load())
	require.Less(t, gaveUp.Load(), int64(128))
	s, _ := fileStore(t, path)
	states, err := s.States(t.Context())
	require.NoError(t, err)
	kept := 0
	for _, state := range states {
		kept += state.Failures
	}
	require.EqualValues(t, 256-gaveUp.Load(), kept)
}
