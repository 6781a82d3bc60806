//go:build linux

package proc_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/stretchr/testify/require"
)

// stubborn are the steps of the children in tests of the sweep: they ignore the soft signals.
var stubborn = steps(step{Ignore: []string{"INT", "TERM", "HUP"}}, hang)

// shapes are process trees that try to escape, with the number of processes besides the leader.
var shapes = []struct {
	name  string
	spawn spawn
	count int
}{
	{"same group (case 61)", spawn{Steps: stubborn}, 1},
	{"own group (case 61)", spawn{Steps: stubborn, Setpgid: true}, 1},
	{"own session (case 61)", spawn{Steps: stubborn, Setsid: true}, 1},
	{"holds stdout (case 33)", spawn{Steps: stubborn, HoldStdout: true}, 1},
	{"holds stdout in own session", spawn{Steps: stubborn, HoldStdout: true, Setsid: true}, 1},
	{"daemon (case 62)", spawn{Steps: stubborn, Daemon: true}, 1},
	{"server for later runs, as cline leaves it", spawn{Steps: stubborn, Daemon: true, Args: []string{"--cline-hub-daemon"}}, 1},
	{"daemon that holds stdout", spawn{Steps: stubborn, Daemon: true, HoldStdout: true}, 1},
	{"environment scrubbed (case 69)", spawn{Steps: stubborn, Setsid: true, ClearEnv: true}, 1},
	{"environment scrubbed below a shell of its own session", spawn{Setsid: true,
		Steps: append(steps(step{Spawn: &spawn{Steps: stubborn, ClearEnv: true}}), stubborn...)}, 2},
	{"environment scrubbed below a daemon", spawn{Daemon: true,
		Steps: append(steps(step{Spawn: &spawn{Steps: stubborn, Setsid: true, ClearEnv: true}}), stubborn...)}, 2},
	{"grandchildren", spawn{Steps: append(steps(step{Spawn: &spawn{Steps: stubborn, Setsid: true, Count: 2}}), stubborn...), Setsid: true}, 3},
	{"daemon of a daemon", spawn{Steps: append(steps(step{Spawn: &spawn{Steps: stubborn, Daemon: true}}), stubborn...), Daemon: true}, 2},
}

// scrubbed reports whether any process of the tree clears its environment.
func scrubbed(s spawn) bool {
	return s.ClearEnv || slices.ContainsFunc(s.Steps, func(s step) bool { return s.Spawn != nil && scrubbed(*s.Spawn) })
}

func TestTreeHasEndedAfterStop(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes {
		for name, grace := range map[string]time.Duration{"polite": time.Millisecond, "at once": -1} {
			t.Run(shape.name+" "+name, func(t *testing.T) {
				result, _ := trial{
					steps:    steps(step{Spawn: &shape.spawn}, ready, hang),
					command:  proc.Command{Grace: grace},
					stopWhen: "ready",
					within:   time.Second,
				}.run(t)
				require.True(t, result.TreeClean)
				require.False(t, result.DrainCut)
				require.Equal(t, shape.count, result.Leftovers)
			})
		}
	}
}

func TestTreeHasEndedAfterExit(t *testing.T) { // cases 33, 67
	t.Parallel()
	for _, shape := range shapes {
		if scrubbed(shape.spawn) {
			continue // nothing shows that it belongs to the run; see the strong modes
		}
		t.Run(shape.name, func(t *testing.T) {
			result, _ := trial{steps: steps(step{Spawn: &shape.spawn}, ready), within: time.Second}.run(t)
			require.NoError(t, result.Cause)
			require.Equal(t, 0, result.ExitCode)
			require.True(t, result.TreeClean)
			require.False(t, result.DrainCut)
			require.Equal(t, shape.count, result.Leftovers)
		})
	}
}

func TestRespawnedChildren(t *testing.T) { // case 64
	children := spawn{Steps: stubborn, Setsid: true, Count: 20, Respawn: true}
	result, _ := trial{
		steps:   steps(step{Spawn: &children}, step{Ignore: []string{"INT", "TERM"}}, ready, hang),
		command: proc.Command{Grace: time.Millisecond}, stopWhen: "ready",
	}.run(t)
	require.True(t, result.TreeClean)
	require.GreaterOrEqual(t, result.Leftovers, 20)
}

func TestManyChildren(t *testing.T) { // case 65
	count := 200
	if testing.Short() || raceEnabled { // the race detector makes fakes slow to start
		count = 40
	}
	result, _ := trial{
		steps:    steps(step{Spawn: &spawn{Steps: stubborn, Count: count}}, ready, hang),
		command:  proc.Command{Grace: -1},
		stopWhen: "ready", within: time.Second,
	}.run(t)
	require.True(t, result.TreeClean)
	require.Equal(t, count, result.Leftovers)
}

func TestWrapperAroundTheProgram(t *testing.T) { // case 68
	wrapper := steps(step{Ignore: []string{"TERM", "INT"}}, step{Spawn: &spawn{HoldStdout: true, Wait: true, Steps: append(steps(ready), stubborn...)}})
	result, _ := trial{steps: wrapper, command: proc.Command{Grace: time.Millisecond}, stopWhen: "ready"}.run(t)
	require.True(t, result.TreeClean)
	require.LessOrEqual(t, result.Leftovers, 1, "the signal to the group may have ended the program before the wrapper was reaped")
}

func TestDrainCutsEscapedProcess(t *testing.T) { // cases 34, 63
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(
		step{Spawn: &spawn{Steps: stubborn, Daemon: true, ClearEnv: true, HoldStdout: true}}, ready)})
	warmUp(t)
	fake.NoLeaks(t)
	begin := time.Now()
	result, err := proc.Run(t.Context(), proc.Command{Path: path, Drain: 100 * time.Millisecond})
	require.NoError(t, err)
	testtime.Within(t, begin, margin)
	require.True(t, result.DrainCut)
	require.Equal(t, "ready\n", result.Stdout.Text())
	require.Len(t, fake.Survivors(path), 1, "the documented limit; update the documentation if this changes")
}

func TestRunSparesOtherProcesses(t *testing.T) { // case 72
	stranger := exec.Command(fake.New(t, "stranger", fake.Scenario{Steps: steps(step{Spawn: &spawn{Steps: stubborn, Setsid: true}}, hang)}))
	require.NoError(t, stranger.Start())
	t.Cleanup(func() { _, _ = stranger.Process.Kill(), stranger.Wait() })
	eventually(t, func() bool { return len(fake.Survivors(stranger.Path)) == 2 })

	family := steps(step{Spawn: &spawn{Steps: stubborn, Setsid: true}}, step{Spawn: &spawn{Steps: stubborn, Daemon: true}}, hang)
	sibling := fake.New(t, "sibling", fake.Scenario{Steps: family})
	stop := make(chan struct{})
	finished := make(chan proc.Result)
	go func() {
		result, _ := proc.Run(t.Context(), proc.Command{Path: sibling, Kill: stop})
		finished <- result
	}()
	eventually(t, func() bool { return len(fake.Survivors(sibling)) == 3 })

	for range 10 {
		result, _ := trial{
			steps:   steps(step{Spawn: &spawn{Steps: stubborn, Daemon: true}}, ready, hang),
			command: proc.Command{Grace: -1}, stopWhen: "ready",
		}.run(t)
		require.Equal(t, 1, result.Leftovers)
	}
	require.Len(t, fake.Survivors(stranger.Path), 2)
	require.Len(t, fake.Survivors(sibling), 3)
	close(stop)
	require.Equal(t, 2, (<-finished).Leftovers)
	require.Empty(t, fake.Survivors(sibling))
}
