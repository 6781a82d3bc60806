package cache_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cache"
	"github.com/stretchr/testify/require"
)

// sharedDir names the variable with the directory of a process of TestProcessesShareDirectory.
const sharedDir = "CLICHAIN_TEST_CACHE"

const (
	sharedQuestions = 12
	sharedBytes     = 6 << 10 // the space for about half of the answers
)

// Processes that are killed, and that remove answers to make space, use one directory. Every answer belongs to its
// request, no answer has a warning, and all files that remain are complete.
func TestProcessesShareDirectory(t *testing.T) {
	if dir := os.Getenv(sharedDir); dir != "" {
		askUntilKilled(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 4 {
				cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
				cmd.Env = append(os.Environ(), sharedDir+"="+dir, "GORACE=atexit_sleep_ms=0")
				out, err := cmd.CombinedOutput()
				if err != nil && strings.Contains(string(out), "FAIL") {
					t.Errorf("%v: %s", err, out)
				}
			}
		})
	}
	all.Wait()
	left, _ := complete(t, dir)
	require.NotZero(t, left)
	require.LessOrEqual(t, left, sharedQuestions)

	model := newCounting(nil)
	b := newCache(t, model, cache.Config{Dir: dir})
	for i := range sharedQuestions {
		askShared(t, b, i)
	}
	require.EqualValues(t, sharedQuestions-left, model.calls.Load(), "all files that remain are valid answers")

	b = newCache(t, model, cache.Config{Dir: dir, MaxBytes: sharedBytes})
	askShared(t, b, sharedQuestions)
	_, size := complete(t, dir)
	require.LessOrEqual(t, size, int64(sharedBytes), "the answers of all processes are counted")
}

// complete returns how many complete files a directory has, and their size in bytes. A process that was killed leaves
// incomplete ones.
func complete(t *testing.T, dir string) (files int, size int64) {
	t.Helper()
	for _, path := range stored(t, dir) {
		if strings.HasPrefix(filepath.Base(path), ".new-") {
			continue
		}
		info, err := os.Stat(path)
		require.NoError(t, err)
		files, size = files+1, size+info.Size()
	}
	return files, size
}

// askUntilKilled asks questions, until this process has asked 50 or kills itself.
func askUntilKilled(t *testing.T, dir string) {
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	b := newCache(t, newCounting(nil), cache.Config{Dir: dir, MaxBytes: sharedBytes})
	for range 50 {
		if rand.IntN(30) == 0 {
			time.AfterFunc(rand.N(2*time.Millisecond), func() { _ = self.Kill() })
		}
		askShared(t, b, rand.IntN(sharedQuestions))
	}
}

func askShared(t *testing.T, b clichain.Backend, i int) {
	t.Helper()
	question := fmt.Sprintf("question %d %s", i, strings.Repeat("x", 100*i))
	resp := ask(t, b, clichain.Prompt(question))
	require.Equal(t, strings.ToUpper(question), resp.Text)
	require.Empty(t, resp.Warnings)
}
