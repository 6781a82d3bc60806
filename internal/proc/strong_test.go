//go:build linux

package proc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
)

// delegated returns the directory of a control group in which this user may create groups, or skips the test.
func delegated(t *testing.T) string {
	t.Helper()
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		dir := filepath.Join(root, "clichain-test-"+filepath.Base(t.TempDir()))
		if _, err := os.Stat(root + "/cgroup.controllers"); err != nil || os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { require.NoError(t, os.Remove(dir), "the groups of the runs are removed") })
		return dir
	}
	t.Skip("no version 2 control group is delegated to this user")
	return ""
}

// strongModes calls test with the settings of each strong mode.
func strongModes(t *testing.T, test func(t *testing.T, c proc.Command)) {
	t.Run("shim", func(t *testing.T) { test(t, proc.Command{Shim: true}) })
	t.Run("cgroup", func(t *testing.T) { test(t, proc.Command{Cgroup: delegated(t)}) })
}

func TestStrongModesLeaveNothing(t *testing.T) { // cases 61–63, 67, 69
	scrubbed := spawn{Steps: stubborn, Daemon: true, ClearEnv: true}
	strongModes(t, func(t *testing.T, c proc.Command) {
		for _, shape := range append(shapes[:len(shapes):len(shapes)], struct {
			name  string
			spawn spawn
			count int
		}{"scrubbed daemon (case 63)", scrubbed, 1}) {
			t.Run(shape.name, func(t *testing.T) {
				result, _ := trial{steps: steps(step{Spawn: &shape.spawn}, ready, fake.Exit(5)), command: c}.run(t)
				require.Equal(t, 5, result.ExitCode)
				require.True(t, result.TreeClean)
				require.Equal(t, shape.count, result.Leftovers)

				c.Grace = -1
				result, _ = trial{steps: steps(step{Spawn: &shape.spawn}, ready, hang), command: c, stopWhen: "ready"}.run(t)
				require.Equal(t, errEnd, result.Cause)
				require.Equal(t, "SIGKILL", result.Signal)
				require.True(t, result.TreeClean)
				require.Equal(t, shape.count, result.Leftovers)
			})
		}
	})
}

func TestStrongModesEndForkChain(t *testing.T) { // case 66
	rounds := 5
	if testing.Short() {
		rounds = 1
	}
	strongModes(t, func(t *testing.T, c proc.Command) {
		for range rounds {
			// Each process starts its successor in a separate group, without the cookie, and exits.
			result, _ := trial{
				steps:   steps(step{Spawn: &spawn{Steps: steps(step{Spawn: &spawn{Self: true, Setpgid: true, ClearEnv: true}})}}, ready, hang),
				command: c, stopWhen: "ready",
			}.run(t)
			require.True(t, result.TreeClean)
		}
	})
}

func TestStrongModesReturnExitCode(t *testing.T) {
	strongModes(t, func(t *testing.T, c proc.Command) {
		for _, code := range []int{0, 41, 255} {
			result, _ := trial{steps: steps(step{Stdout: "out"}, step{Stderr: "err"}, fake.Exit(code)), command: c}.run(t)
			require.Equal(t, code, result.ExitCode)
			require.NoError(t, result.Cause)
			require.Equal(t, "out", result.Stdout.Text())
			require.Equal(t, "err", result.Stderr.Text())
		}
		result, _ := trial{steps: steps(step{Kill: "TERM"}, hang), command: c}.run(t)
		require.Equal(t, "SIGTERM", result.Signal)
		require.Equal(t, -1, result.ExitCode)
		require.NoError(t, result.Cause)
	})
}

func TestStrongModesEscalate(t *testing.T) {
	strongModes(t, func(t *testing.T, c proc.Command) {
		c.Grace = 30 * time.Second
		polite := steps(step{ExitOn: map[string]int{"INT": 0}}, ready, hang)
		result, _ := trial{steps: polite, command: c, stopWhen: "ready", within: 3 * time.Second}.run(t)
		require.Equal(t, errEnd, result.Cause)
		require.Equal(t, 0, result.ExitCode)
		require.Equal(t, "SIGINT", result.SoftSignal)

		c.Grace = 100 * time.Millisecond
		deaf := steps(step{Ignore: []string{"INT", "TERM"}}, ready, step{Kill: "STOP"}, hang)
		result, _ = trial{steps: deaf, command: c, stopWhen: "ready", suspended: true}.run(t)
		require.Equal(t, "SIGKILL", result.Signal)
		require.True(t, result.Escalated)
	})
}

func TestStrongModesReportSpawnErrors(t *testing.T) {
	strongModes(t, func(t *testing.T, c proc.Command) {
		for kind, path := range map[proc.Kind]string{
			proc.NotFound:    "/nowhere",
			proc.Permission:  t.TempDir(),
			proc.ExecFormat:  write(t, "x", "", 0o700),
			proc.Interpreter: write(t, "x", "#!/no/such/sh\n", 0o700),
		} {
			warmUp(t)
			fake.NoLeaks(t)
			c.Path = path
			_, err := proc.Run(t.Context(), c)
			var e *proc.SpawnError
			require.ErrorAs(t, err, &e)
			require.Equal(t, kind, e.Kind, "%v", err)
		}
	})
}

func TestMissingCgroup(t *testing.T) {
	_, err := proc.Run(t.Context(), proc.Command{Path: "/bin/true", Cgroup: "/nowhere"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestShimHidesInheritedFiles(t *testing.T) { // case 78
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	inherited, err := syscall.Dup(int(file.Fd())) // without close-on-exec
	require.NoError(t, err)
	defer syscall.Close(inherited)
	leaked := func(c proc.Command) bool {
		return slices.ContainsFunc(record(t, trial{command: c}).Files, func(f string) bool {
			fd, target, _ := strings.Cut(f, " ")
			return target == os.DevNull && fd == strconv.Itoa(inherited)
		})
	}
	require.False(t, leaked(proc.Command{Shim: true}))
	require.True(t, leaked(proc.Command{}), "without a shim the file is inherited")
}

func TestShimArgumentsEnvironmentAndInput(t *testing.T) {
	dir := t.TempDir()
	r := record(t, trial{args: []string{"", "--x", "é\n"}, command: proc.Command{
		Shim: true, Env: []string{"A=1"}, Dir: dir, Stdin: []byte("in\xff"),
	}})
	require.Equal(t, []string{"", "--x", "é\n"}, r.Args[1:])
	require.Equal(t, "in\xff", string(r.Stdin))
	require.Equal(t, dir, r.Dir)
	require.Len(t, r.Env, 3)
	require.Equal(t, []string{"A=1", "PWD=" + dir}, r.Env[1:])
}

func TestNoProcessOutlivesHostWithShim(t *testing.T) { // case 75
	t.Setenv(hostShimVariable, "1")
	child := spawn{Steps: stubborn, Daemon: true, ClearEnv: true}
	h := startHost(t, fake.New(t, "fake", fake.Scenario{Steps: steps(step{Spawn: &child}, ready, hang)}))
	require.Len(t, fake.Survivors(h.fake), 2)
	h.kill(t)
	eventually(t, func() bool { return len(fake.Survivors(h.fake)) == 0 })
}

func TestKilledShim(t *testing.T) {
	child := spawn{Steps: stubborn, Daemon: true}
	killShim := writerFunc(func(p []byte) (int, error) {
		for _, s := range fake.Survivors("clichain-shim") {
			if slices.Contains(children(), strconv.Itoa(s.Pid)) {
				return len(p), syscall.Kill(s.Pid, syscall.SIGKILL)
			}
		}
		return len(p), nil
	})
	result, _ := trial{steps: steps(step{Spawn: &child}, ready, hang), command: proc.Command{Shim: true, Stdout: killShim}}.run(t)
	require.NoError(t, result.Cause)
	require.Equal(t, "SIGKILL", result.Signal)
	require.True(t, result.TreeClean)
}

// children lists the children of this process.
func children() []string { return childrenOf(os.Getpid()) }

func childrenOf(pid int) (pids []string) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		data, _ := os.ReadFile(list) // the thread may have ended
		pids = append(pids, strings.Fields(string(data))...)
	}
	return pids
}
