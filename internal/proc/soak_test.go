//go:build linux

package proc_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/stretchr/testify/require"
)

var soakRuns = flag.Int("soak", 200, "number of runs of the soak test")

// faults are the faults of the fakes in the soak test.
var faults = map[string][]step{
	"exits":                steps(step{Stdout: "x\n"}, fake.Exit(3)),
	"hangs":                steps(hang),
	"ignores signals":      steps(step{Ignore: []string{"INT", "TERM"}}, hang),
	"is stopped":           steps(step{Kill: "STOP"}, hang),
	"kills itself":         steps(step{Kill: "KILL"}),
	"floods both streams":  steps(step{FloodStdout: 1 << 20}, step{FloodStderr: 1 << 20}, step{FloodStdout: 1 << 40}),
	"reads":                steps(step{ReadStdin: true}, step{Echo: true}),
	"closes its streams":   steps(step{CloseStdin: true}, step{CloseStdout: true}, step{Sleep: 10 * time.Millisecond}),
	"leaves a child":       steps(step{Spawn: &spawn{Steps: stubborn, HoldStdout: true}}),
	"leaves a session":     steps(step{Spawn: &spawn{Steps: stubborn, Setsid: true, Count: 2}}),
	"leaves a daemon":      steps(step{Spawn: &spawn{Steps: stubborn, Daemon: true, HoldStdout: true}}),
	"respawns":             steps(step{Spawn: &spawn{Steps: stubborn, Setsid: true, Respawn: true}}, hang),
	"is a wrapper":         steps(step{Spawn: &spawn{Steps: stubborn, HoldStdout: true, Wait: true}}),
	"exits on interrupt 0": steps(step{ExitOn: map[string]int{"INT": 0}}, hang),
}

// TestSoak runs programs with random faults concurrently, each stopped at a random time. -soak N sets the
// number of runs.
func TestSoak(t *testing.T) {
	if testing.Short() {
		*soakRuns = min(*soakRuns, 50)
	}
	warmUp(t)
	fake.NoLeaks(t)
	paths := map[string]string{}
	for name, list := range faults {
		paths[name] = fake.New(t, "fake", fake.Scenario{Steps: list})
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var left atomic.Int64
	left.Store(int64(*soakRuns))
	var workers sync.WaitGroup
	for worker := range uint64(8) {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(seed, worker))
			for left.Add(-1) >= 0 && !t.Failed() {
				for name := range faults { // a random one
					soakOnce(t, name, paths[name], random)
					break
				}
			}
		})
	}
	workers.Wait()
	for name, path := range paths {
		require.Empty(t, fake.Survivors(path), name)
	}
}

func soakOnce(t *testing.T, name, path string, random *rand.Rand) {
	timeout := time.Duration(random.Int64N(int64(60 * time.Millisecond)))
	ctx, cancel := context.WithTimeoutCause(t.Context(), timeout, errEnd)
	defer cancel()
	begin := time.Now()
	result, err := proc.Run(ctx, proc.Command{
		Path: path, Stdin: make([]byte, random.IntN(1<<18)), Grace: time.Duration(random.Int64N(int64(20*time.Millisecond))) - 1,
		Shim: random.IntN(4) == 0,
	})
	testtime.Within(t, begin, margin, name)
	switch {
	case err != nil && err != errEnd:
		t.Errorf("%s: %v", name, err)
	case err == nil && (!result.TreeClean || result.DrainCut):
		t.Errorf("%s: %+v", name, result)
	}
}
