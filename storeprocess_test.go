package clichain_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
)

// storeRole makes a process of this program make a call: it names the store's
// file.
const storeRole = "CLICHAIN_TEST_STORE"

// playStore is such a process, which runs no tests.
func playStore() {
	path := os.Getenv(storeRole)
	if path == "" {
		return
	}
	s := cooldown.NewFile(path, func(err error) { fmt.Fprintln(os.Stderr, err) })
	a, next := failing("a", clichain.ReasonUsageLimit), &backend{name: "next"}
	c := clichain.ChainOf([]clichain.Backend{a, next}, &clichain.ChainConfig{Store: s})
	resp, err := c.Complete(context.Background(), clichain.Prompt("hi"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(resp.Attempts[0].Reason)
	os.Exit(0)
}

// One process meets a limit, the next one does not.
func TestProcessesShareCooldowns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	for _, want := range []clichain.Reason{clichain.ReasonUsageLimit, clichain.ReasonCoolingDown, clichain.ReasonCoolingDown} {
		cmd := exec.Command(os.Args[0], "-test.run=^$")                                // even if it were to test, it would find nothing
		cmd.Env = append(os.Environ(), storeRole+"="+path, "GORACE=atexit_sleep_ms=0") // which would cost a second each
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, string(want)+"\n", string(out))
	}
	// So does one that has been running for longer.
	a := failing("a", clichain.ReasonUsageLimit)
	s := cooldown.NewFile(path, func(err error) { t.Error(err) })
	start := time.Now()
	_, err := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Store: s}).Complete(t.Context(), clichain.Prompt("hi"))
	t.Logf("skipped in %v", time.Since(start))
	require.ErrorIs(t, err, clichain.ErrCoolingDown)
	require.Zero(t, a.asked)
}
