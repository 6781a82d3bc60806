package cooldown_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
)

// storeRole makes a process of this program make a call: it names the store's file.
const storeRole = "CLICHAIN_TEST_STORE"

// playStore runs such a process, without tests.
func playStore() {
	path := os.Getenv(storeRole)
	if path == "" {
		return
	}
	s := cooldown.NewFile(path, func(err error) { fmt.Fprintln(os.Stderr, err) })
	if prompts := os.Getenv(storePrompts); prompts != "" {
		playPicky(s, strings.Split(prompts, ","))
	}
	a, next := chaintest.Failing("a", clichain.ReasonUsageLimit), &chaintest.Backend{ID: "next"}
	c := clichain.ChainOf([]clichain.Backend{a, next}, &clichain.ChainConfig{Store: s})
	resp, err := c.Complete(context.Background(), clichain.Prompt("hi"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(resp.Attempts[0].Reason)
	os.Exit(0)
}

// storePrompts makes such a process ask a picky backend with these prompts, separated by commas; "broken" breaks it.
const storePrompts = "CLICHAIN_TEST_PROMPTS"

// playPicky prints the reason of each failure, and the numbers of requests and probes that the backend received.
func playPicky(s cooldown.Store, prompts []string) {
	p := &picky{name: "a", reason: clichain.ReasonExit}
	c := clichain.ChainOf([]clichain.Backend{p}, &clichain.ChainConfig{Store: s})
	for _, text := range prompts {
		if text == "broken" {
			p.broken.Store(true)
			continue
		}
		_, err := c.Complete(context.Background(), clichain.Prompt(text))
		if chain, ok := err.(*clichain.ChainError); ok {
			fmt.Print(chain.Reason(), " ")
		}
	}
	fmt.Println(p.asked.Load(), p.probed.Load())
	os.Exit(0)
}

// askedBy returns the output of such a process.
func askedBy(t *testing.T, path string, prompts ...string) string {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), storeRole+"="+path, storePrompts+"="+strings.Join(prompts, ","), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// The requests of several processes count together, each different one once, and one process probes for all.
func TestProcessesCountDifferentRequests(t *testing.T) {
	t.Parallel()
	t.Run("the same request", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "cooldowns.json")
		for range 4 {
			require.Equal(t, "exit 1 0", askedBy(t, path, "bad"))
		}
		require.Equal(t, "1 0", askedBy(t, path, "good"))
	})
	t.Run("different requests, the backend answers", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "cooldowns.json")
		for i := range 3 {
			require.Equal(t, "exit 1 0", askedBy(t, path, fmt.Sprint("bad ", i)))
		}
		require.Equal(t, "1 1", askedBy(t, path, "good"))
	})
	t.Run("different requests, the backend is broken", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "cooldowns.json")
		for i := range 3 {
			require.Equal(t, "exit 1 0", askedBy(t, path, "broken", fmt.Sprint("good ", i)))
		}
		require.Equal(t, "cooling_down 0 1", askedBy(t, path, "broken", "good"))
		require.Equal(t, "cooling_down 0 0", askedBy(t, path, "good"))
	})
	t.Run("many at once", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "cooldowns.json")
		var running sync.WaitGroup
		for i := range 4 {
			running.Go(func() {
				var prompts []string
				for j := range 5 {
					prompts = append(prompts, fmt.Sprint("bad ", i, j))
				}
				if got := askedBy(t, path, append(prompts, "good")...); !strings.HasPrefix(got, "exit exit exit exit exit 6 ") {
					t.Errorf("a process got %q", got)
				}
			})
		}
		running.Wait()
		require.Regexp(t, `^1 `, askedBy(t, path, "good"))
	})
}

// One process meets a limit, and the next one does not run into it.
func TestProcessesShareCooldowns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	for _, want := range []clichain.Reason{clichain.ReasonUsageLimit, clichain.ReasonCoolingDown, clichain.ReasonCoolingDown} {
		cmd := exec.Command(os.Args[0], "-test.run=^$")                                // if it ran tests, it would find none
		cmd.Env = append(os.Environ(), storeRole+"="+path, "GORACE=atexit_sleep_ms=0") // it would cost a second for each process
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, string(want)+"\n", string(out))
	}
	// A process that has been running for longer sees the limit too.
	a := chaintest.Failing("a", clichain.ReasonUsageLimit)
	s := cooldown.NewFile(path, func(err error) { t.Error(err) })
	start := time.Now()
	_, err := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Store: s}).Complete(t.Context(), clichain.Prompt("hi"))
	t.Logf("skipped in %v", time.Since(start))
	require.ErrorIs(t, err, clichain.ErrCoolingDown)
	require.Zero(t, a.Asked)
}
