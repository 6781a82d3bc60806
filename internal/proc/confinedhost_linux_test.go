package proc_test

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
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// These environment variables make the test binary a host that starts confined programs until it is killed.
const (
	confinedVariable     = "PROC_TEST_CONFINED"      // a directory to which no rule gives rights
	confinedShimVariable = "PROC_TEST_CONFINED_SHIM" // use a shim
)

// family leaves the session, ignores SIGTERM, and reports a missing confinement in the directory $1.
const family = `trap '' TERM HUP
true 2>/dev/null >"$1/unconfined"
setsid sleep 1000 &
sleep 1000`

// beConfinedHost starts confined programs from several goroutines, if this process is such a host. Each run is stopped
// after a few milliseconds, so the host starts and kills programs all the time.
func beConfinedHost() {
	dir := os.Getenv(confinedVariable)
	if dir == "" {
		return
	}
	var rules []landlock.Rule
	for _, path := range []string{"/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/dev"} {
		rules = append(rules, landlock.Rule{Path: path, Access: landlock.Read | landlock.Execute})
	}
	rules = append(rules, landlock.Rule{Path: os.DevNull, Access: landlock.Read | landlock.Write})
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			for {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.Int64N(int64(40*time.Millisecond))))
				_, err := proc.Run(ctx, proc.Command{
					Path: "/bin/sh", Args: []string{"sh", "-c", family, "sh", dir}, Env: os.Environ(), Dir: "/", Grace: -1,
					Rules: rules, Shim: os.Getenv(confinedShimVariable) != "",
				})
				cancel()
				if err != nil && ctx.Err() == nil {
					fmt.Println(err)
				}
			}
		})
	}
	fmt.Println("ready")
	runs.Wait()
}

// A host that is killed at any moment of the start of a confined program leaves no process, neither a stopped nor an
// unconfined one.
func TestKilledHostLeavesNoConfinedProgram(t *testing.T) {
	if os.Getenv(aloneVariable) == "" {
		t.Parallel()
	}
	if _, err := landlock.Usable(); err != nil {
		t.Skip(err)
	}
	for _, mode := range []struct{ name, shim string }{{"plain", ""}, {"shim", "1"}} {
		t.Run(mode.name, func(t *testing.T) {
			if os.Getenv(aloneVariable) == "" {
				t.Parallel()
				runAlone(t)
				return
			}
			kills, found := 60, 0
			if testing.Short() {
				kills = 20
			}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			becomeReaper(t)
			dir, window := t.TempDir(), 50*time.Millisecond
			for range kills {
				killConfinedHost(t, time.Duration(random.Int64N(int64(window))),
					confinedVariable+"="+dir, confinedShimVariable+"="+mode.shim)
				if len(fake.Survivors(dir)) > 0 {
					found++
				} else if found == 0 {
					window = min(2*window, 5*time.Second) // a slow machine starts no program so soon
				}
				eventually(t, noChildren, "seed %d: a process of a killed host is left", seed)
				require.NoFileExists(t, filepath.Join(dir, "unconfined"), "seed %d", seed)
			}
			require.Positive(t, found, "no host had programs when it was killed")
		})
	}
}

// becomeReaper makes this process the parent of all processes that a killed host leaves.
func becomeReaper(t *testing.T) {
	t.Helper()
	require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	t.Cleanup(func() { require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)) })
}

// killConfinedHost starts a host and kills it some time after its first start.
func killConfinedHost(t *testing.T, after time.Duration, env ...string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	host := exec.Command(exe)
	host.Env, host.Stderr = append(os.Environ(), env...), os.Stderr
	output, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	time.Sleep(after)
	_ = host.Process.Kill() // it does not end otherwise
	_ = host.Wait()         // an error, because it was killed
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
}

// noChildren reaps the children of this process that have ended, and reports whether none is left.
func noChildren() bool {
	for {
		switch pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); {
		case err == unix.ECHILD:
			return true
		case err == nil && pid == 0:
			return false
		}
	}
}

// aloneVariable marks a process in which only one test runs.
const aloneVariable = "PROC_TEST_ALONE"

// runAlone runs the test in another process, which adopts the orphans of no other test.
func runAlone(t *testing.T) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
	cmd.Env = append(os.Environ(), aloneVariable+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name(), "%s", out)
}
