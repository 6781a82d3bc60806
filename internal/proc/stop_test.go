//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
)

const grace = 200 * time.Millisecond

func TestStop(t *testing.T) {
	t.Parallel()
	ignore := func(names ...string) step { return step{Ignore: names} }
	for _, test := range []struct {
		name      string
		steps     []step
		grace     time.Duration
		code      int
		signal    string
		soft      string
		escalated bool
		suspended bool
	}{
		{name: "hangs (case 50)", steps: steps(ready, hang), code: -1, signal: "SIGINT", soft: "SIGINT"},
		{name: "exits 0 when interrupted (case 54)", steps: steps(step{ExitOn: map[string]int{"INT": 0}}, ready, hang), soft: "SIGINT"},
		{name: "ignores SIGINT", steps: steps(ignore("INT"), ready, hang), grace: grace, code: -1, signal: "SIGTERM", soft: "SIGTERM"},
		{name: "exits on SIGTERM", steps: steps(ignore("INT"), step{ExitOn: map[string]int{"TERM": 143}}, ready, hang),
			grace: grace, code: 143, soft: "SIGTERM"},
		{name: "ignores both (case 53)", steps: steps(ignore("INT", "TERM"), ready, hang),
			grace: grace, code: -1, signal: "SIGKILL", soft: "SIGTERM", escalated: true},
		{name: "no grace (case 60)", steps: steps(ready, hang), grace: -1, code: -1, signal: "SIGKILL", escalated: true},
		{name: "is stopped (case 56)", steps: steps(ready, step{Kill: "STOP"}, hang), suspended: true,
			code: -1, signal: "SIGINT", soft: "SIGINT"},
		{name: "is stopped and ignores both", steps: steps(ignore("INT", "TERM"), ready, step{Kill: "STOP"}, hang),
			suspended: true, grace: grace, code: -1, signal: "SIGKILL", soft: "SIGTERM", escalated: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := proc.Command{Grace: test.grace}
			if test.grace == 0 {
				command.Grace = 30 * time.Second // only a loaded machine needs it
			}
			result, _ := trial{steps: test.steps, command: command, stopWhen: "ready", suspended: test.suspended, within: 3 * time.Second}.run(t)
			require.Equal(t, errEnd, result.Cause, "the cause has precedence over the exit code")
			require.Equal(t, test.code, result.ExitCode)
			require.Equal(t, test.signal, result.Signal)
			require.Equal(t, test.soft, result.SoftSignal)
			require.Equal(t, test.escalated, result.Escalated)
			require.True(t, result.TreeClean)
		})
	}
}

// A stopped program never takes a part of its input for the whole input: it is killed before it sees an end.
func TestStopKeepsInputOpen(t *testing.T) {
	t.Parallel()
	ignore := step{Ignore: []string{"INT", "TERM"}}
	interrupted := step{Spawn: &spawn{ // prints that it is ready, and ends with SIGINT
		HoldStdout: true, Wait: true, Steps: steps(step{ExitOn: map[string]int{"INT": 0}}, ready, hang),
	}}
	for name, test := range map[string]struct {
		stdin       []byte
		before      []step
		undelivered bool
		whole       bool // the program sees all of its input and the end
	}{
		"long input":              {stdin: make([]byte, 10<<20), undelivered: true},
		"long input, partly read": {stdin: bytes.Repeat([]byte("line\n"), 1<<20), before: steps(step{ReadLine: true}), undelivered: true},
		"short input, unread":     {stdin: []byte("hello"), undelivered: true, whole: true},
		"short input, read":       {stdin: []byte("hello\n"), before: steps(step{ReadLine: true}), whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			list := append(steps(ignore), test.before...)
			result, _ := trial{
				steps:    append(list, interrupted, step{ReadStdin: true}, step{Stdout: "seen"}, hang),
				command:  proc.Command{Stdin: test.stdin, Grace: 2 * grace},
				stopWhen: "ready",
			}.run(t)
			require.Equal(t, errEnd, result.Cause)
			require.Equal(t, test.undelivered, result.Undelivered)
			require.Equal(t, "SIGKILL", result.Signal)
			if !test.whole {
				require.NotContains(t, result.Stdout.Text(), "seen", "the program took a part for the whole input")
			}
		})
	}
}

func TestCauseIsContextCause(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(hang)})
	result, err := proc.Run(ctx, proc.Command{Path: path, Grace: -1})
	require.NoError(t, err)
	require.Equal(t, context.DeadlineExceeded, result.Cause)
}

func TestKillSkipsGrace(t *testing.T) { // case 58
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
	t.Parallel()
	warmUp(t)
	fake.NoLeaks(t)
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(step{Sleep: time.Millisecond}, fake.Exit(7))})
	runs := 100
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
		require.Empty(t, fake.Survivors(path))
	}
	t.Logf("%d of %d canceled", canceled, runs)
}

func TestReapedByOtherCode(t *testing.T) { // case 83
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(ready, step{Sleep: 50 * time.Millisecond}, fake.Exit(7))})
	eventually(t, func() bool { // the other waiter is not always first
		var thief sync.WaitGroup
		steal := writerFunc(func(p []byte) (int, error) {
			for _, s := range fake.Survivors(path) {
				thief.Go(func() { _, _ = syscall.Wait4(s.Pid, nil, 0, nil) })
			}
			return len(p), nil
		})
		result, err := proc.Run(t.Context(), proc.Command{Path: path, Stdout: steal})
		thief.Wait()
		require.NoError(t, err)
		require.True(t, result.TreeClean)
		if result.Cause == nil {
			require.Equal(t, 7, result.ExitCode)
			return false
		}
		require.Equal(t, proc.ErrReapLost, result.Cause)
		require.Equal(t, -1, result.ExitCode)
		return true
	})
}
