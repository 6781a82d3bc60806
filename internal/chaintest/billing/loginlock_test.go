package billing_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
)

// renewing is a CLI with a credential that it renews by itself.
func renewing() clichain.CliSpec {
	return clichain.CliSpec{
		Name: "lumen", Binary: "claude", Outputs: []clispec.OutputMode{clispec.OutputStream},
		Events: []clispec.EventRule{
			{Match: map[string]string{"type": "delta"}, Kind: clichain.EventDelta, Set: map[string]string{"text": "text"}},
			{Match: map[string]string{"type": "result"}, Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"text": "text"}},
		},
		Login: clispec.LoginRules{Ways: []clispec.LoginWay{{
			Files: []clispec.FileFact{{Path: "~/login.json", JSON: map[string]string{"token": ".+"}, Expires: "ends", Refresh: "refresh"}},
		}}},
	}
}

const runTime = 300 * time.Millisecond

// answerLate is a run that prints nothing for a while, as during the renewal of a credential, and then answers.
func answerLate() clitest.Scenario {
	return chaintest.Play(clitest.Step{Sleep: runTime}, chaintest.Stdout(`{"type":"delta","text":"he"}`+"\n"), chaintest.Stdout(`{"type":"result","text":"hello"}`+"\n"))
}

func loginFile(t *testing.T, home string, ends time.Time) {
	chaintest.Write(t, home, "login.json", fmt.Sprintf(`{"token":"t","refresh":"r","ends":%d}`, ends.UnixMilli()))
}

// spread returns how long it takes until three concurrent calls begin to answer.
func spread(t *testing.T, cfg *clichain.Config) time.Duration {
	t.Helper()
	var running sync.WaitGroup
	start := time.Now()
	for range 3 {
		p := clichain.NewProvider(renewing(), cfg) // a gate is not part of a Provider
		running.Go(func() {
			resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			if err != nil || resp.Text != "hello" {
				t.Errorf("%v %v", resp, err)
			}
		})
	}
	running.Wait()
	return time.Since(start)
}

// Calls that would renew one credential at the same time run in turn. Calls with a valid credential run together.
func TestColdCredentialGoesAlone(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, answerLate())
	loginFile(t, home, time.Now().Add(time.Minute))
	inTurn := spread(t, nil)
	require.GreaterOrEqual(t, inTurn, 3*runTime, "one after the other")
	loginFile(t, home, time.Now().Add(time.Hour))
	best := time.Hour
	for i := 0; i < 5 && best >= inTurn*3/4; i++ { // a busy machine gets more attempts
		best = min(best, spread(t, nil))
	}
	require.Less(t, best, inTurn*3/4, "all at once")
}

// A call waits for a lock of another process, but only for a bounded time.
func TestColdCredentialAcrossProcesses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs flock")
	}
	flock, err := exec.LookPath("flock")
	if err != nil {
		t.Skip("no program flock to play the other process")
	}
	home, _ := chaintest.FreshMachine(t, chaintest.Play(chaintest.Stdout(`{"type":"result","text":"hello"}`+"\n")))
	loginFile(t, home, time.Now().Add(-time.Minute))
	p := clichain.NewProvider(renewing(), &clichain.Config{Timeout: time.Minute})
	_, err = p.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	locks, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "clichain", "login-*.lock"))
	require.NoError(t, err)
	require.Len(t, locks, 1)

	other := exec.Command(flock, locks[0], "/bin/sh", "-c", "echo locked; read line")
	in, err := other.StdinPipe()
	require.NoError(t, err)
	out, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	buffer := make([]byte, 6)
	_, err = out.Read(buffer)
	require.NoError(t, err)

	chaintest.InTime(t, 4*time.Second, func(timeout time.Duration) bool { // half of it is for the CLI
		start := time.Now()
		_, err := clichain.NewProvider(renewing(), &clichain.Config{Timeout: timeout}).Complete(t.Context(), clichain.Prompt("hi"))
		require.GreaterOrEqual(t, time.Since(start), timeout/2, "the call waits for the lock, and continues without it")
		return err == nil
	})

	done := make(chan error, 1)
	go func() {
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		done <- err
	}()
	_, err = in.Write([]byte("go\n"))
	require.NoError(t, err)
	require.NoError(t, <-done, "or when the other is done")
	require.NoError(t, other.Wait())
}

// Without a place for the lock a call continues.
func TestColdCredentialWithoutACache(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, chaintest.Play(chaintest.Stdout(`{"type":"result","text":"hello"}`+"\n")))
	loginFile(t, home, time.Now())
	t.Setenv("XDG_CACHE_HOME", chaintest.Write(t, home, "file", "")+strings.Repeat("/x", 2))
	_, err := clichain.NewProvider(renewing(), nil).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
}
