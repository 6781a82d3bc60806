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

	"github.com/clichain/clichain/clitest/fake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writerRole is a variable with the path of a store file. A process of this test binary that has it writes until it
// is killed.
const writerRole = "CLICHAIN_TEST_WRITER"

// contenderRole is a variable with the path of a store file. A process of this test binary that has it writes 32
// times, and prints how often a write timed out.
const contenderRole = "CLICHAIN_TEST_CONTENDER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerRole); path != "" {
		write(path)
	}
	if path := os.Getenv(contenderRole); path != "" {
		contend(path)
	}
	if path := os.Getenv(historyRole); path != "" {
		record(path)
	}
	os.Exit(fake.Run(m))
}

// write writes states, and prints the number of each stored one. A write can time out on a busy machine, and is
// retried.
func write(path string) {
	report := func(err error) {
		if !errors.Is(err, context.DeadlineExceeded) {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	s := NewFile(path, report)
	for i := 1; ; i++ {
		for _, update := range []func() error{
			func() error { return s.UpdateQuota(context.Background(), "q", putQuota(aQuota(float64(i)/1024))) },
			func() error { return s.Update(context.Background(), storeKey(i), put(aState(i))) },
		} {
			err := update()
			for errors.Is(err, context.DeadlineExceeded) {
				err = update()
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		fmt.Println(i)
	}
}

func storeKey(i int) string { return fmt.Sprint("key", i%50) }

// A killed writer loses no state whose write succeeded, and does not block the next writer.
func TestKilledWriters(t *testing.T) {
	const most = 200
	rounds := 20
	if os.Getenv("CLICHAIN_CONFORMANCE") == "long" {
		rounds = most
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "cooldowns.json")
	s, _ := fileStore(t, path)
	unfinished, n := 0, 0
	// The test needs at least one writer that was killed before it renamed the new file.
	for ; n < rounds || unfinished == 0 && n < most; n++ {
		kept := killWriter(t, path, n%2 == 0)
		if _, err := os.Stat(path + ".new"); err == nil {
			unfinished++
		}
		states, err := s.States(t.Context()) // a single read, because reading the file for each key took longer than writing it
		require.NoError(t, err)
		for i := max(1, kept-49); i <= kept; i++ {
			require.GreaterOrEqual(t, states[storeKey(i)].Failures, i)
		}
		q, err := s.LoadQuota(t.Context(), "q")
		require.NoError(t, err)
		require.GreaterOrEqual(t, *q.Windows[0].Used, float64(kept)/1024)
		require.NoError(t, s.Update(t.Context(), "after", put(aState(1))))
		require.NoError(t, s.UpdateQuota(t.Context(), "after", putQuota(aQuota(0))))
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Remove(quotaPath(path)))
	}
	t.Logf("%d of %d were killed before the new file was in place", unfinished, n)
	require.NotZero(t, unfinished)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 4, "the locks alone: %v", left)
}

// killWriter runs a writer for a while and kills it. With aimed it kills the writer when the new file appears, else
// at a random time. kept is the number of the last successful write.
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
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond) // during the next write
			}
			require.NoError(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // the error reports the kill
	require.Empty(t, stderr.String())
	require.GreaterOrEqual(t, kept, end)
	return kept
}

// appears waits until a file exists. The file may exist only for a moment, so the function returns after one second
// in any case.
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
		for s.UpdateQuota(context.Background(), "q", func(q Quota) Quota {
			used := 0.0
			if len(q.Windows) > 0 {
				used = *q.Windows[0].Used
			}
			return aQuota(used + 1.0/256)
		}) != nil { // the lock was busy
		}
		if s.Update(context.Background(), storeKey(i), func(s State) State { return aState(s.Failures + 1) }) != nil {
			gaveUp++
		}
	}
	fmt.Print(gaveUp)
	os.Exit(0)
}

// Eight processes that write all the time each get the lock before most of their writes time out. Each successful
// write is kept.
func TestConcurrentProcessesWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	var all sync.WaitGroup
	var gaveUp atomic.Int64
	for range 8 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), contenderRole+"="+path, "GORACE=atexit_sleep_ms=0") // the default costs a second per process
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
	q, err := s.LoadQuota(t.Context(), "q")
	require.NoError(t, err)
	require.InDelta(t, 1, *q.Windows[0].Used, 1e-9, "256 updates")
}
