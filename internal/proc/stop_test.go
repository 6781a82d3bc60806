//go:build unix

package proc_test

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/proc"
)

const grace = 200 * time.Millisecond

func TestStop(t *testing.T) {
	ignore := func(names ...string) step { return step{Ignore: names} }
	for _, test := range []struct {
		name      string
		steps     []step
		grace     time.Duration
		code      int
		signal    string
		soft      string
		escalated bool
	}{
		{name: "hangs (case 50)", steps: steps(ready, hang), code: -1, signal: "SIGINT", soft: "SIGINT"},
		{name: "exits 0 when interrupted (case 54)", steps: steps(step{ExitOn: map[string]int{"INT": 0}}, ready, hang), soft: "SIGINT"},
		{name: "ignores SIGINT", steps: steps(ignore("INT"), ready, hang), grace: grace, code: -1, signal: "SIGTERM", soft: "SIGTERM"},
		{name: "exits on SIGTERM", steps: steps(ignore("INT"), step{ExitOn: map[string]int{"TERM": 143}}, ready, hang),
			grace: grace, code: 143, soft: "SIGTERM"},
		{name: "ignores both (case 53)", steps: steps(ignore("INT", "TERM"), ready, hang),
			grace: grace, code: -1, signal: "SIGKILL", soft: "SIGTERM", escalated: true},
		{name: "no grace (case 60)", steps: steps(ready, hang), grace: -1, code: -1, signal: "SIGKILL", escalated: true},
		{name: "is stopped (case 56)", steps: steps(ready, step{Kill: "STOP"}, hang), code: -1, signal: "SIGINT", soft: "SIGINT"},
		{name: "is stopped and ignores both", steps: steps(ignore("INT", "TERM"), ready, step{Kill: "STOP"}, hang),
			grace: grace, code: -1, signal: "SIGKILL", soft: "SIGTERM", escalated: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := proc.Command{Grace: test.grace}
			if test.grace == 0 {
				command.Grace = 30 * time.Second // only a loaded machine needs it
			}
			result, _ := trial{steps: test.steps, command: command, stopWhen: "ready", within: 3 * time.Second}.run(t)
			require.Equal(t, errEnd, result.Cause, "the cause wins over the status")
			require.Equal(t, test.code, result.ExitCode)
			require.Equal(t, test.signal, result.Signal)
			require.Equal(t, test.soft, result.SoftSignal)
			require.Equal(t, test.escalated, result.Escalated)
			require.True(t, result.TreeClean)
		})
	}
}

func TestStopClosesStdin(t *testing.T) {
	input := make([]byte, 1<<20) // more than a pipe takes, so that it is never delivered
	result, _ := trial{
		steps:    steps(step{Ignore: []string{"INT", "TERM"}}, ready, hang),
		command:  proc.Command{Stdin: input, Grace: time.Millisecond},
		stopWhen: "ready",
	}.run(t)
	require.Error(t, result.StdinErr)
}

func TestCauseIsThatOfTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	path := clitest.Fake(t, "fake", clitest.Scenario{Steps: steps(hang)})
	result, err := proc.Run(ctx, proc.Command{Path: path, Grace: -1})
	require.NoError(t, err)
	require.Equal(t, context.DeadlineExceeded, result.Cause)
}

func TestKillSkipsTheGrace(t *testing.T) { // case 58
	stubborn := steps(step{Ignore: []string{"INT", "TERM"}}, ready, hang)
	t.Run("while stopping", func(t *testing.T) {
		kill := make(chan struct{})
		soon := writerFunc(func(p []byte) (int, error) {
			time.AfterFunc(20*time.Millisecond, func() { close(kill) })
			return len(p), nil
		})
		result, _ := trial{
			steps: stubborn, command: proc.Command{Grace: time.Hour, Kill: kill, Stdout: soon},
			stopWhen: "ready", within: time.Second,
		}.run(t)
		require.Equal(t, errEnd, result.Cause, "the first cause stays")
		require.True(t, result.Escalated)
		require.Equal(t, "SIGINT", result.SoftSignal)
	})
	t.Run("alone", func(t *testing.T) {
		kill := make(chan struct{})
		close(kill)
		result, _ := trial{steps: stubborn, command: proc.Command{Grace: time.Hour, Kill: kill}, within: time.Second}.run(t)
		require.Equal(t, proc.ErrKilled, result.Cause)
		require.Equal(t, "SIGKILL", result.Signal)
		require.Empty(t, result.SoftSignal)
	})
}

func TestExitRacesCancel(t *testing.T) { // cases 17, 55, 60
	warmUp(t)
	clitest.NoLeaks(t)
	path := clitest.Fake(t, "fake", clitest.Scenario{Steps: steps(step{Sleep: time.Millisecond}, clitest.Exit(7))})
	runs := 200
	if testing.Short() {
		runs = 50
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	canceled := 0
	for range runs {
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(30*time.Millisecond))), func() { cancel(errEnd) })
		result, err := proc.Run(ctx, proc.Command{Path: path, Grace: time.Second})
		timer.Stop()
		if err != nil {
			require.Equal(t, errEnd, err)
			continue
		}
		if result.Cause == nil {
			require.Equal(t, 7, result.ExitCode, "seed %d: %+v", seed, result)
		} else {
			require.Equal(t, errEnd, result.Cause)
			canceled++
		}
		require.True(t, result.TreeClean)
		require.Empty(t, clitest.Survivors(path))
	}
	t.Logf("%d of %d canceled", canceled, runs)
}

func TestReapedByAnother(t *testing.T) { // case 83
	stop := make(chan struct{})
	done := make(chan struct{})
	path := clitest.Fake(t, "fake", clitest.Scenario{Steps: steps(ready, step{ReadStdin: true})})
	pid := make(chan int, 1)
	go func() {
		defer close(done)
		select {
		case child := <-pid:
			_ = syscall.Kill(child, syscall.SIGKILL)
			_, _ = syscall.Wait4(child, nil, 0, nil)
		case <-stop:
		}
	}()
	result, err := proc.Run(t.Context(), proc.Command{Path: path, Stdin: make([]byte, 1<<20), Stdout: writerFunc(func(p []byte) (int, error) {
		for _, s := range clitest.Survivors(path) {
			select {
			case pid <- s.Pid:
			default:
			}
		}
		return len(p), nil
	})})
	close(stop)
	<-done
	require.NoError(t, err)
	require.ErrorIs(t, result.Cause, proc.ErrReapLost)
	require.Equal(t, -1, result.ExitCode)
}
