package slots

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const hostVariable = "SLOTS_TEST_HOST"

func TestMain(m *testing.M) {
	if dir := os.Getenv(hostVariable); dir != "" {
		host(dir)
	}
	os.Exit(fake.Run(m))
}

// host opens and closes slots until it is killed, and prints a line at each step.
func host(dir string) {
	for i := 0; ; i++ {
		s, err := Open(context.Background(), os.Getenv("SLOTS_TEST_ROOT"), Source{Dir: dir, Share: i%2 == 0})
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println("open")
		_ = os.WriteFile(filepath.Join(s.Top, "a"), []byte("of an agent"), 0o600)
		_ = os.WriteFile(filepath.Join(s.Top, "junk"), []byte("of an agent"), 0o600)
		if err := s.Close(); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
}

func TestOpenUsesFirstFreeSlot(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	first, second := m.open(Source{}), m.open(Source{})
	require.Equal(t, "1", filepath.Base(first.locked.dir))
	require.Equal(t, "2", filepath.Base(second.locked.dir))
	require.NoError(t, first.Close())
	again := m.open(Source{})
	require.Equal(t, first.Top, again.Top)
	require.NoError(t, again.Close())
	require.NoError(t, second.Close())
	info, err := os.Stat(first.locked.dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestOpenConcurrently(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.commit()
	var all sync.WaitGroup
	var mu sync.Mutex
	users := map[string]int{}
	for range 4 {
		all.Go(func() {
			for range 3 {
				s, err := Open(t.Context(), m.root, Source{Dir: m.top})
				if !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				users[s.Top]++
				assert.Equal(t, 1, users[s.Top])
				mu.Unlock()
				assert.NoError(t, os.WriteFile(filepath.Join(s.Top, "a"), nil, 0o600))
				mu.Lock()
				users[s.Top]--
				mu.Unlock()
				assert.NoError(t, s.Close())
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, len(users), 4)
}

func TestOpenStopsWithContext(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, m.root, Source{Dir: m.top})
	require.ErrorIs(t, err, context.Canceled)
	s := m.open(Source{})
	m.same(s)
	require.NoError(t, s.Close())
}

func TestOpenNamesCopy(t *testing.T) {
	for name, want := range map[string]string{
		"project": "project", "git": "git-copy", "lock": "lock-copy", "manifest.new": "manifest.new-copy", "a b": "a b",
	} {
		require.Equal(t, want, copyName(filepath.Join("/src", name)))
	}
}

func TestSweep(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	require.NoError(t, Sweep(t.Context(), m.root), "without slots")
	held, free, dead := m.open(Source{}), m.open(Source{}), m.open(Source{})
	require.NoError(t, free.Close())
	dead.locked.unlock() // as the system does when the host dies
	require.NoError(t, os.MkdirAll(filepath.Join(m.root, trashPrefix+"x/closed"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(m.root, trashPrefix+"x/closed"), 0))
	require.NoError(t, Sweep(t.Context(), m.root))
	require.DirExists(t, held.Top)
	require.DirExists(t, free.Top)
	require.NoDirExists(t, dead.locked.dir)
	require.NoDirExists(t, filepath.Join(m.root, trashPrefix+"x"))

	now := time.Now()
	require.NoError(t, sweep(t.Context(), m.root, now.Add(unusedFor-time.Hour)))
	require.DirExists(t, free.Top)
	require.NoError(t, sweep(t.Context(), m.root, now.Add(unusedFor+time.Hour)))
	require.NoDirExists(t, free.locked.dir)
	require.DirExists(t, held.Top)
	m.same(held)
	require.NoError(t, held.Close())
	require.NoError(t, sweep(t.Context(), m.root, now.Add(unusedFor+time.Hour)))
	entries, err := os.ReadDir(m.root)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the lock of all slots")
}

// A host that is killed at any moment changes nothing in the original, and the next start removes its copies or uses
// them again without its changes.
func TestOpenAfterKilledHost(t *testing.T) {
	kills := 6
	if *long {
		kills = 50
	}
	m := newMachine(t)
	m.write("a", "one\n")
	m.fill("files", 100)
	m.commit()
	m.write("b", "untracked\n")
	original := m.tree(m.top)
	for kill := range kills {
		r := rand.New(rand.NewPCG(uint64(kill), 1))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), hostVariable+"="+m.top, "SLOTS_TEST_ROOT="+m.root)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range r.IntN(3) {
			require.True(t, lines.Scan())
			require.Equal(t, "open", lines.Text())
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond) // the moment is random
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		require.Equal(t, original, m.tree(m.top))
		if kill%2 == 0 {
			require.NoError(t, Sweep(t.Context(), m.root))
		}
		s := m.open(Source{})
		require.Equal(t, "1", filepath.Base(s.locked.dir))
		m.same(s)
		require.NoError(t, s.Close())
	}
}
