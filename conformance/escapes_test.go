package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
)

// callOrder is an environment variable. It makes this test binary a program that makes one call.
const callOrder = "CONFORMANCE_CALL_HOST"

// playCallHost makes one call in which a CLI may use its shell, and exits, if callOrder is set.
func playCallHost() {
	text := os.Getenv(callOrder)
	if text == "" {
		return
	}
	var order liveHost
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		panic(err)
	}
	spec, _ := specs.ByName(order.Name)
	p := clichain.NewProvider(spec, &clichain.Config{
		Binary: order.Binary, Env: order.Env, PassEnv: []string{"LOOPBACK_*"}, Timeout: 2 * time.Minute,
	})
	req := clichain.Prompt("use your shell")
	req.Access = clichain.AccessFull
	_, err := p.Complete(context.Background(), req)
	fmt.Println(err)
	os.Exit(1)
}

// scrubbing are shell commands that start a program with an empty environment.
var scrubbing = []struct {
	name, command string
	forked        bool // the program loses its parent
}{
	{"env -i", "env -i $PROGRAM & wait", false},
	{"setsid env -i", "setsid env -i $PROGRAM & wait", false},
	{"double fork and env -i", "(setsid env -i $PROGRAM &); tail -f /dev/null", true},
}

// A tool's program with an empty environment must not survive a killed host. The host is the command, or a program
// that uses the library with its defaults. If the program lost its parent before, only the shim of the command finds
// it.
func TestScrubbedToolsDieWithTheHost(t *testing.T) {
	long(t)
	netns.Require(t)
	hosts := map[string]func(t *testing.T, h home.Home, name string) *exec.Cmd{
		"library": libraryHost,
		"command": func(t *testing.T, h home.Home, name string) *exec.Cmd {
			_, _, cmd := commandIn(t, command(t), h, "ask", "--only", name, "--access", "full", "--timeout", "2m",
				"--pass-env", "LOOPBACK_*", "use your shell")
			cmd.Env = append(cmd.Env, "IS_SANDBOX=1")
			return cmd
		},
	}
	for _, name := range []string{home.Claude, home.OpenCode, home.Gemini} {
		for _, tool := range scrubbing {
			for kind, host := range hosts {
				t.Run(name+"/"+tool.name+"/"+kind, func(t *testing.T) {
					survivors := 0
					for range *rounds {
						survivors += killWithTool(t, name, tool.command, tool.forked, host)
					}
					t.Logf("%d of %d survive", survivors, *rounds)
					if kind == "command" || !tool.forked {
						require.Zero(t, survivors)
					}
				})
			}
		}
	}
}

func libraryHost(t *testing.T, h home.Home, name string) *exec.Cmd {
	order, err := json.Marshal(liveHost{name, h.Binary, append(h.Env[:len(h.Env):len(h.Env)], "IS_SANDBOX=1")})
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Dir, cmd.Env = h.Work, append(os.Environ(), callOrder+"="+string(order))
	return cmd
}

// killWithTool kills a host while the tool of its CLI runs. It returns the number of the tool's programs that still
// run one second after the CLI ended.
func killWithTool(
	t *testing.T, name, command string, forked bool, host func(t *testing.T, h home.Home, name string) *exec.Cmd,
) int {
	t.Helper()
	_, token := waiter()
	program := "tail -f -s " + token + " /dev/null"
	command = strings.ReplaceAll(command, "$PROGRAM", program)
	server := loopback.New(t, loopback.Always(shell(name, command)))
	h := home.New(t, name, server.URL, home.LoggedIn)
	cmd := host(t, h, name)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		found := withArgument(t, token)
		return len(found) > 0 && (!forked || !isShell(parent(found[0])))
	}, minute, 10*time.Millisecond, "the tool never ran")
	require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	require.Error(t, cmd.Wait())
	require.Eventually(t, func() bool {
		tool := func(p string) bool { return strings.HasSuffix(p, " "+program+" ") }
		return len(slices.DeleteFunc(living(t, h), tool)) == 0
	}, minute, 5*time.Millisecond, "the CLI survives")
	for range 100 {
		if len(withArgument(t, token)) == 0 {
			return 0
		}
		time.Sleep(10 * time.Millisecond) // the end of the last process causes no event
	}
	left := withArgument(t, token)
	for _, id := range left {
		pid, err := strconv.Atoi(id)
		require.NoError(t, err)
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	return len(left)
}

// parent returns the parent process ID.
func parent(pid string) string {
	line, _ := os.ReadFile("/proc/" + pid + "/stat") // the process may have ended
	_, rest, _ := strings.Cut(string(line), ") ")
	if fields := strings.Fields(rest); len(fields) > 1 {
		return fields[1]
	}
	return ""
}

func isShell(pid string) bool {
	name, _ := os.ReadFile("/proc/" + pid + "/comm")
	return pid != "1" && (string(name) == "bash\n" || string(name) == "sh\n")
}
