//go:build unix

package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/stretchr/testify/require"
)

// cliArgs is the number of arguments of the CLI. Its child process has more.
const cliArgs = 2

// After a signal the server must finish a request in flight, or cancel it at the end of the grace period.
func TestServeDrains(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, grace, want string
		release           bool
	}{
		{"answer within the grace period", "60s", `"content":"fine"`, true},
		{"answer after the grace period", "10ms", `"code":"shutting_down"`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			spec := filepath.Join(t.TempDir(), "spec.json")
			require.NoError(t, os.WriteFile(spec, []byte(`{"name":"mine","binary":"mine","args":[{"args":["{prompt}"]}]}`), 0o600))
			// After the CLI has printed its answer, its child runs, and SIGUSR1 ends the CLI.
			fake, err := clitest.Install(w.bin, "mine", clitest.Scenario{Steps: []clitest.Step{
				{Ignore: []string{"INT", "TERM"}}, {ExitOn: map[string]int{"USR1": 0}}, {Stdout: "fine\n"},
				{Spawn: &clitest.Spawn{Steps: []clitest.Step{{Hang: true}}}}, {Hang: true},
			}})
			require.NoError(t, err)
			s := w.serving("--spec", spec, "--only", "mine", "--cold", "--grace", test.grace)
			answer := make(chan string, 1)
			go func() {
				resp, err := s.ask(served1)
				if err != nil {
					answer <- err.Error()
					return
				}
				defer resp.Body.Close()
				data, _ := io.ReadAll(resp.Body)
				answer <- string(data)
			}()
			require.Eventually(t, func() bool { return len(clitest.Survivors(fake)) == 2 }, consoletest.Patience, time.Millisecond)
			require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
			require.Eventually(t, func() bool {
				c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.baseURL, "http://"), "/v1"))
				if err == nil {
					_ = c.Close()
				}
				return err != nil
			}, consoletest.Patience, time.Millisecond, "it listens on")
			for _, p := range clitest.Survivors(fake) {
				if test.release && len(p.Args) == cliArgs {
					require.NoError(t, syscall.Kill(p.Pid, syscall.SIGUSR1))
				}
			}
			require.Contains(t, <-answer, test.want)
			status, log := s.stop(syscall.SIGTERM)
			require.Zero(t, status, log)
			require.Empty(t, clitest.Survivors(fake))
		})
	}
}
