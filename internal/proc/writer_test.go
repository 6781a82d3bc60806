//go:build unix

package proc_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/testtime"
)

func TestWriterFailureStopsRun(t *testing.T) { // cases 37, 38
	t.Parallel()
	for name, test := range map[string]struct {
		write writerFunc
		check func(t *testing.T, cause error)
	}{
		"error": {func([]byte) (int, error) { return 0, errEnd },
			func(t *testing.T, cause error) { require.Equal(t, errEnd, cause) }},
		"short write": {func([]byte) (int, error) { return 0, nil },
			func(t *testing.T, cause error) { require.Equal(t, io.ErrShortWrite, cause) }},
		"panic": {func([]byte) (int, error) { panic("oops") }, requirePanic},
	} {
		for stream, list := range map[string][]step{"stdout": steps(ready, hang), "stderr": steps(step{Stderr: "x"}, hang)} {
			t.Run(name+" on "+stream, func(t *testing.T) {
				c := proc.Command{Stdout: test.write, Stderr: test.write, Grace: time.Millisecond}
				result, _ := trial{steps: list, command: c}.run(t)
				test.check(t, result.Cause)
			})
		}
		t.Run(name+" after the exit", func(t *testing.T) {
			path := fake.New(t, "fake", fake.Scenario{Steps: steps(ready)})
			late := writerFunc(func(p []byte) (int, error) {
				for len(fake.Survivors(path)) > 0 {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(20 * time.Millisecond) // usually Run has seen the exit by then
				return test.write(p)
			})
			test.check(t, trial{command: proc.Command{Stdout: late}}.runAt(t, path).Cause)
		})
	}
}

func requirePanic(t *testing.T, cause error) {
	var e *proc.PanicError
	require.ErrorAs(t, cause, &e)
	require.Equal(t, "oops", e.Value)
	require.Contains(t, string(e.Stack), "writer_test.go")
	require.ErrorContains(t, cause, "oops")
}

func TestWriterThatBlocksDoesNotBlockRun(t *testing.T) { // case 36
	release := make(chan struct{})
	ctx, cancel := context.WithCancelCause(t.Context())
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(ready, hang)})
	fake.NoLeaks(t)
	begin := time.Now()
	result, err := proc.Run(ctx, proc.Command{
		Path: path, Grace: -1, Drain: 50 * time.Millisecond,
		Stdout: writerFunc(func(p []byte) (int, error) { cancel(errEnd); <-release; return len(p), nil }),
	})
	require.NoError(t, err)
	testtime.Within(t, begin, margin)
	require.Equal(t, errEnd, result.Cause)
	require.True(t, result.DrainCut)
	require.Equal(t, "ready\n", result.Stdout.Text())
	require.Empty(t, fake.Survivors(path))
	close(release) // now its goroutine ends, as NoLeaks requires
}
