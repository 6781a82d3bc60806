package conformance_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

// hostOrder is an environment variable. It makes this test binary a program with a warm process.
const hostOrder = "CONFORMANCE_LIVE_HOST"

type liveHost struct {
	Name, Binary string
	Env          []string
}

// playLiveHost makes one warm call and then blocks, if hostOrder is set.
func playLiveHost() {
	text := os.Getenv(hostOrder)
	if text == "" {
		return
	}
	var order liveHost
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		panic(err)
	}
	spec, _ := specs.ByName(order.Name)
	p := live.NewPool([]*clichain.Provider{clichain.NewProvider(spec, &clichain.Config{
		Binary: order.Binary, Env: order.Env, Timeout: 2 * time.Minute,
	})}, &live.PoolConfig{Wait: time.Minute})
	req := clichain.Prompt("say hi")
	req.Model = liveModel(order.Name)
	_, err := p.Backends()[0].Complete(context.Background(), req)
	fmt.Println(p.Stats().Warm, err)
	select {}
}

// A warm process does not outlive its host, even if the host is killed.
func TestWarmProcessDiesWithItsHost(t *testing.T) {
	long(t)
	netns.Require(t)
	eachLive(t, func(t *testing.T, name string) {
		server := loopback.New(t, loopback.Always(loopback.Text(hello)))
		h := home.New(t, name, server.URL, home.LoggedIn)
		order, err := json.Marshal(liveHost{name, h.Binary, slices.Concat(h.Env, []string{"IS_SANDBOX=1"})})
		require.NoError(t, err)
		exe, err := os.Executable()
		require.NoError(t, err)
		host := exec.Command(exe)
		host.Env = append(os.Environ(), hostOrder+"="+string(order))
		out, err := host.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, host.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "1 <nil>\n", line)
		ofHost := func(found []string) []string {
			return slices.DeleteFunc(found, func(p string) bool { return p[:len(fmt.Sprint(host.Process.Pid))] == fmt.Sprint(host.Process.Pid) })
		}
		require.NotEmpty(t, ofHost(living(t, h)), "no process is warm")
		require.NoError(t, host.Process.Signal(syscall.SIGKILL))
		require.Error(t, host.Wait())
		require.Eventually(t, func() bool { return len(living(t, h)) == 0 }, minute, 10*time.Millisecond, "%q", living(t, h))
	})
}
