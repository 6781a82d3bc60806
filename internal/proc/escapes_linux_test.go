package proc_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
)

var (
	escapeRounds = flag.Int("escapes", 1, "how often TestEscapes ends each run")
	escapeCount  = flag.Bool("escapes.count", false, "let TestEscapes only count the survivors")
)

// escapes are shell commands of a tool that clear the environment of a program. $1 is the argument of the
// program.
var escapes = []struct {
	name, command string
	forked        bool // the program's parent ends before the run
}{
	{"env -i", `env -i /bin/sleep "$1" & wait`, false},
	{"setsid env -i", `setsid env -i /bin/sleep "$1" & wait`, false},
	{"double fork and env -i", `(setsid env -i /bin/sleep "$1" &); sleep 1000`, true},
}

// escapeTool returns the program of a run: like real CLIs, it runs the command in a shell in another session.
func escapeTool(command, token string) []string {
	return []string{"/bin/sh", "-c", `setsid /bin/sh -c "$0" tool "$1" & wait`, command, token}
}

// shims lists the shims of a host.
func shims(host int) []fake.Survivor {
	return slices.DeleteFunc(fake.Survivors("clichain-shim"), func(s fake.Survivor) bool {
		return !slices.Contains(childrenOf(host), strconv.Itoa(s.Pid))
	})
}

var escapeTokens atomic.Int64

// escapeToken returns an argument of sleep that no other process has.
func escapeToken() string { return fmt.Sprintf("9%d%06d", os.Getpid(), escapeTokens.Add(1)) }

// escaped returns the PIDs of the programs with that argument.
func escaped(token string) (pids []int) {
	lists, _ := os.ReadDir("/proc")
	for _, entry := range lists {
		line, _ := os.ReadFile("/proc/" + entry.Name() + "/cmdline") // the process may have ended
		if bytes.Equal(line, []byte("/bin/sleep\x00"+token+"\x00")) {
			pid, _ := strconv.Atoi(entry.Name())
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf returns the PID of the parent of a process whose name has no spaces.
func parentOf(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // the process may have ended
	if fields := strings.Fields(string(line)); len(fields) > 3 {
		return fields[3]
	}
	return ""
}

// awaitEscape waits until the program is running. If its parent ends, it also waits until process 1 or a shim,
// which is no shell, has become its parent.
func awaitEscape(t *testing.T, token string, forked bool) {
	t.Helper()
	eventually(t, func() bool {
		pids := escaped(token)
		if len(pids) == 0 || !forked {
			return len(pids) > 0
		}
		parent := parentOf(pids[0])
		name, _ := os.ReadFile("/proc/" + parent + "/comm")
		return parent == "1" || len(name) > 0 && string(name) != "sh\n"
	}, "the tool never ran")
}

// Programs with a cleared environment do not survive a killed host or a stopped run. An orphaned program is
// found only with a shim.
func TestEscapes(t *testing.T) {
	for _, way := range []struct {
		name string
		end  func(t *testing.T, program []string, shim bool, token string, forked bool)
	}{{"host killed", killEscapedHost}, {"stopped", stopEscapedRun}} {
		for _, escape := range escapes {
			for name, shim := range map[string]bool{"plain": false, "shim": true} {
				t.Run(way.name+"/"+escape.name+"/"+name, func(t *testing.T) {
					survivors := 0
					for range *escapeRounds {
						token := escapeToken()
						way.end(t, escapeTool(escape.command, token), shim, token, escape.forked)
						left := escaped(token)
						survivors += len(left)
						for _, pid := range left {
							require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
						}
					}
					t.Logf("%d of %d survive", survivors, *escapeRounds)
					if !*escapeCount && (shim || !escape.forked) {
						require.Zero(t, survivors)
					}
				})
			}
		}
	}
}

// killEscapedHost kills a host that runs the program, and waits for the end of its guard.
func killEscapedHost(t *testing.T, program []string, shim bool, token string, forked bool) {
	h := hostCommand(t, program...)
	if shim {
		h.Env = append(h.Env, hostShimVariable+"=1")
	}
	require.NoError(t, h.Start())
	awaitEscape(t, token, forked)
	guards := append(watchdogs(h.Process.Pid), shims(h.Process.Pid)...)
	require.Len(t, guards, 1)
	require.NoError(t, h.Process.Kill())
	require.Error(t, h.Wait())
	ended := func() bool {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", guards[0].Pid))
		return len(line) == 0
	}
	eventually(t, ended, "its guard never ended")
}

// stopEscapedRun stops a run of the program without a grace period, as a timeout finally does.
func stopEscapedRun(t *testing.T, program []string, shim bool, token string, forked bool) {
	stop := make(chan struct{})
	over := make(chan error)
	go func() {
		r, err := proc.Run(t.Context(), proc.Command{
			Path: program[0], Args: program, Env: os.Environ(), Kill: stop, Shim: shim, Drain: 50 * time.Millisecond,
		})
		if err == nil && !r.TreeClean {
			err = fmt.Errorf("not clean: %+v", r)
		}
		over <- err
	}()
	awaitEscape(t, token, forked)
	close(stop)
	require.NoError(t, <-over)
}
