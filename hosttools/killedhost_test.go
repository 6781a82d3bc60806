package hosttools_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/hosttools"
	"github.com/clichain/clichain/live"
	"github.com/stretchr/testify/require"
)

// hostMode is an environment variable that makes the test binary a program with a function: "new" or "warm" is the kind
// of process that calls it. In these modes the function blocks. In the mode "next" it returns.
const hostMode = "HOSTTOOLS_HOST"

// playHost answers one request. Its function prints the address of its server.
func playHost(mode string) int {
	tell := hosttools.Func("tell", "Prints an address.", func(ctx context.Context, in process) (string, error) {
		fmt.Println(in.URL)
		if mode != "next" {
			<-ctx.Done()
		}
		return "", ctx.Err()
	})
	p := clichain.NewProvider(playerSpec("p", os.Args[0]), &clichain.Config{Timeout: time.Hour})
	backend := clichain.Backend(p)
	if mode == "warm" {
		backend = live.NewPool([]*clichain.Provider{p}, &live.PoolConfig{Wait: time.Minute}).Backends()[0]
	}
	const script = `{"Child": true, "Calls": [{"Name": "tell", "Input": "` + ownPID + `"}]}`
	if _, err := hosttools.With(backend, tell).Complete(context.Background(), clichain.Prompt(script)); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// startHost starts a program with its own temporary directory. It returns when its function runs, with the address of
// the server.
func startHost(t *testing.T, mode, temp string) (host *exec.Cmd, url string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	host = exec.Command(self)
	host.Env = append(os.Environ(), hostMode+"="+mode, "TMPDIR="+temp, "TMP="+temp)
	out, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	t.Cleanup(func() { _ = host.Process.Kill(); _ = host.Wait() })
	url, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return host, strings.TrimSpace(url)
}

// A program is killed while its function runs. Its CLI, the child of the CLI and the server end. The file with the token
// remains until a later program removes it, but no server accepts the token any more.
func TestNothingOutlivesKilledHost(t *testing.T) {
	for _, mode := range []string{"new", "warm"} {
		t.Run(mode, func(t *testing.T) {
			temp := t.TempDir()
			host, url := startHost(t, mode, temp)
			if runtime.GOOS == "linux" {
				require.Len(t, clitest.Survivors(url), 2)
				isLive := func(s clitest.Survivor) bool { return slices.Contains(s.Args, playLive) }
				require.Equal(t, mode == "warm", slices.ContainsFunc(clitest.Survivors(url), isLive))
			}
			files, err := filepath.Glob(filepath.Join(temp, "clichain-*", "token"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			if runtime.GOOS != "windows" {
				info, err := os.Stat(files[0])
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o600), info.Mode())
			}
			require.NoError(t, host.Process.Kill())
			require.Error(t, host.Wait())
			require.Eventually(t, func() bool { return len(clitest.Survivors(url)) == 0 }, time.Minute, time.Millisecond)
			_, err = http.Get(url)
			require.Error(t, err, "the server outlives the program")

			old := time.Now().Add(-49 * time.Hour)
			require.NoError(t, os.Chtimes(filepath.Dir(files[0]), old, old))
			next, _ := startHost(t, "next", temp)
			require.NoError(t, next.Wait())
			left, err := filepath.Glob(filepath.Join(temp, "clichain-*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}
