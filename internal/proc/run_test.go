//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
)

func TestExitCodeIsReturned(t *testing.T) { // case 87
	for _, code := range []int{0, 1, 41, 127, 130, 143, 255} {
		result, _ := trial{steps: steps(fake.Exit(code))}.run(t)
		require.Equal(t, code, result.ExitCode)
		require.Empty(t, result.Signal)
		require.NoError(t, result.Cause)
		require.True(t, result.TreeClean)
		require.Zero(t, result.Leftovers)
		require.False(t, result.DrainCut)
	}
}

func TestExternalSignalIsNoCause(t *testing.T) { // case 86
	for _, name := range []string{"KILL", "INT", "TERM"} {
		result, _ := trial{steps: steps(step{Kill: name}, hang)}.run(t)
		require.Equal(t, "SIG"+name, result.Signal)
		require.Equal(t, -1, result.ExitCode)
		require.NoError(t, result.Cause)
		require.Empty(t, result.SoftSignal)
	}
}

func TestOutputArrives(t *testing.T) {
	var stdout, stderr bytes.Buffer
	result, _ := trial{
		steps:   steps(step{Stdout: "out\n"}, step{Stderr: "err"}, step{Stdout: "no newline at the end"}),
		command: proc.Command{Stdout: &stdout, Stderr: &stderr},
	}.run(t)
	require.Equal(t, "out\nno newline at the end", stdout.String())
	require.Equal(t, "err", stderr.String())
	require.Equal(t, stdout.String(), result.Stdout.Text())
	require.Equal(t, stderr.String(), result.Stderr.Text())
	require.Positive(t, result.Duration)
	require.NotZero(t, result.Pid)
}

// record runs a fake that records its arguments, environment and input.
func record(t *testing.T, tr trial) fake.Record {
	t.Helper()
	file := filepath.Join(t.TempDir(), "record")
	tr.steps = steps(step{Record: file})
	result, _ := tr.run(t)
	require.Empty(t, result.Stderr.Text())
	require.False(t, result.Undelivered)
	r, err := fake.ReadRecord(file)
	require.NoError(t, err)
	return r
}

func TestStdinArrivesByteForByte(t *testing.T) { // case 22
	for name, text := range map[string]string{
		"empty":          "",
		"newlines":       "\n\n\n",
		"invalid UTF-8":  "a\xff\xfe\xc3(",
		"CRLF":           "a\r\nb\r\n",
		"lone surrogate": "\xed\xa0\x80",
		"NUL":            "a\x00b",
		"flag":           "--help",
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, trial{command: proc.Command{Stdin: []byte(text)}})
			require.Equal(t, text, string(r.Stdin))
		})
	}
}

func TestArgumentsArriveAsText(t *testing.T) { // case 20
	args := []string{"--help", "-p", "", "a b", "\"'$(x)`\\\n", "--dangerously-skip-permissions"}
	r := record(t, trial{args: args})
	require.Equal(t, args, r.Args[1:])
}

func TestEnvironmentIsPassedUnchanged(t *testing.T) {
	t.Setenv("NOT_INHERITED", "1")
	dir := t.TempDir()
	r := record(t, trial{command: proc.Command{Env: []string{"A=1", "PWD=/wrong"}, Dir: dir}})
	require.Equal(t, dir, r.Dir)
	require.Len(t, r.Env, 3)
	require.True(t, strings.HasPrefix(r.Env[0], proc.CookieName+"="))
	require.Equal(t, []string{"A=1", "PWD=" + dir}, r.Env[1:])
}

func TestNilEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("NOT_INHERITED", "1")
	r := record(t, trial{})
	require.Len(t, r.Env, 1, "only the cookie")
}

// A program need not read its input to the end, but the result reports it.
func TestUndeliveredInput(t *testing.T) { // cases 24, 25
	t.Parallel()
	all, line := step{ReadStdin: true}, step{ReadLine: true}
	for name, test := range map[string]struct {
		steps                  []step
		stdin                  []byte
		undelivered, untouched bool
	}{
		"never reads a long input":     {steps(step{Stdout: "x"}), make([]byte, 10<<20), true, true},
		"never reads a short input":    {steps(step{Stdout: "x"}), []byte("hello"), true, true},
		"closes a long input":          {steps(step{CloseStdin: true}), make([]byte, 10<<20), true, true},
		"closes a short input":         {steps(step{CloseStdin: true}), []byte("hello"), true, true},
		"reads a part":                 {steps(line), bytes.Repeat([]byte("line\n"), 10_000), true, false},
		"reads everything":             {steps(all), make([]byte, 10<<20), false, false},
		"reads everything but the end": {steps(line), []byte("hello\n"), false, false},
		"never reads an empty input":   {steps(step{Stdout: "x"}), []byte{}, false, false},
		"has no input":                 {steps(step{Stdout: "x"}), nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := trial{
				steps: append(test.steps, step{Stdout: "done"}), command: proc.Command{Stdin: test.stdin},
			}.run(t)
			require.Equal(t, 0, result.ExitCode)
			require.NoError(t, result.Cause)
			require.Equal(t, test.undelivered, result.Undelivered)
			require.Equal(t, test.untouched, result.Untouched)
			require.Contains(t, result.Stdout.Text(), "done")
		})
	}
}

// Input continues as long as the program reads: each line is answered before the next one is written.
func TestInputContinuesWhileProgramReads(t *testing.T) {
	t.Parallel()
	read, write := io.Pipe()
	answers := make(chan string)
	go func() {
		defer write.Close()
		for _, line := range []string{"one\n", "two\n", "three\n"} {
			if _, err := io.WriteString(write, line); err != nil || <-answers != line {
				return
			}
		}
	}()
	result, _ := trial{
		steps:   steps(step{EachLine: steps(step{Echo: true})}),
		command: proc.Command{Input: read, Stdout: writerFunc(func(p []byte) (int, error) { answers <- string(p); return len(p), nil })},
	}.run(t)
	require.NoError(t, result.Cause)
	require.Equal(t, 0, result.ExitCode)
	require.Equal(t, "one\ntwo\nthree\n", result.Stdout.Text())
}

// A writer that waits for a program that has ended, or was never started, gets an error.
func TestInputOfEndedProgram(t *testing.T) {
	for name, path := range map[string]string{
		"ended": fake.New(t, "fake", fake.Scenario{Steps: steps(step{CloseStdin: true})}), "never started": "/nonexistent/program",
	} {
		t.Run(name, func(t *testing.T) {
			fake.NoLeaks(t)
			read, write := io.Pipe()
			heard := make(chan error)
			go func() {
				var err error
				for err == nil {
					_, err = io.WriteString(write, "hello\n")
				}
				heard <- err
			}()
			_, err := proc.Run(t.Context(), proc.Command{Path: path, Input: read})
			require.Equal(t, name == "never started", err != nil)
			require.Error(t, <-heard)
		})
	}
}

// Input that never arrives does not prevent a program from being stopped.
func TestSilentInputEndsWithProgram(t *testing.T) {
	fake.NoLeaks(t)
	read, write := io.Pipe()
	defer write.Close()
	ctx, cancel := context.WithCancel(t.Context())
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(step{Stdout: "x"}, step{ReadStdin: true})})
	result, err := proc.Run(ctx, proc.Command{Path: path, Input: read, Stdout: writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })})
	require.NoError(t, err)
	require.ErrorIs(t, result.Cause, context.Canceled)
}

func TestNoDeadlockBetweenStreams(t *testing.T) { // cases 21, 26, 27
	t.Parallel()
	input := bytes.Repeat([]byte("line of input\n"), 700_000)
	for name, list := range map[string][]step{
		"in and out at once": steps(step{EachLine: steps(step{Echo: true})}),
		"stderr first":       steps(step{FloodStderr: int64(len(input))}, step{ReadStdin: true}, step{Echo: true}),
	} {
		t.Run(name, func(t *testing.T) {
			input := input
			if name == "in and out at once" {
				input = input[:1_400_000] // one write for each line
			}
			var output bytes.Buffer
			result, _ := trial{steps: list, command: proc.Command{Stdin: input, Stdout: &output}, within: time.Minute}.run(t)
			require.False(t, result.Undelivered)
			require.EqualValues(t, len(input), result.Stdout.Total)
			require.True(t, bytes.Equal(input, output.Bytes()))
		})
	}
}

func TestLargeOutputUsesLittleMemory(t *testing.T) { // case 28
	const size = 100 << 20
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(step{Stdout: "first\n"}, step{FloodStdout: size}, step{Stdout: "last\n"})})
	warmUp(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result, err := proc.Run(t.Context(), proc.Command{Path: path})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.EqualValues(t, size+11, result.Stdout.Total)
	require.True(t, result.Stdout.Truncated())
	require.True(t, strings.HasPrefix(result.Stdout.Text(), "first\n"))
	require.True(t, strings.HasSuffix(result.Stdout.Text(), "last\n"))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), "bytes allocated")
}

func TestOutputLimit(t *testing.T) { // case 29
	var delivered int
	result, _ := trial{
		steps: steps(step{FloodStdout: 8 << 20}, hang),
		command: proc.Command{Limit: 1 << 20, Grace: time.Millisecond, Stdout: writerFunc(func(p []byte) (int, error) {
			delivered += len(p)
			return len(p), nil
		})},
	}.run(t)
	require.ErrorIs(t, result.Cause, proc.ErrOutputLimit)
	require.LessOrEqual(t, delivered, 1<<20)
	require.Greater(t, result.Stdout.Total, int64(1<<20), "reading continues after the limit")
}

func TestOutputLimitAfterExit(t *testing.T) {
	result, _ := trial{steps: steps(step{FloodStdout: 2000}), command: proc.Command{Limit: 1999}}.run(t)
	require.ErrorIs(t, result.Cause, proc.ErrOutputLimit)
	result, _ = trial{steps: steps(step{FloodStdout: 2000}), command: proc.Command{Limit: 2000}}.run(t)
	require.NoError(t, result.Cause)
}

func TestClosedStdoutDoesNotEndRun(t *testing.T) { // case 32
	result, _ := trial{
		steps: steps(step{CloseStdout: true}, step{Sleep: 50 * time.Millisecond}, step{Stderr: "later"}, fake.Exit(3)),
	}.run(t)
	require.Equal(t, 3, result.ExitCode)
	require.Equal(t, "later", result.Stderr.Text())
}

func TestSmallWritesAndPipes(t *testing.T) { // case 39
	text := strings.Repeat("é\x1b[31m✔\n", 20)
	var stdout bytes.Buffer
	result, _ := trial{
		steps:   steps(step{Stdout: text, Chunk: 1, Every: 100 * time.Microsecond}),
		command: proc.Command{Stdout: &stdout},
	}.run(t)
	require.Equal(t, text, stdout.String())
	require.Equal(t, text, result.Stdout.Text())
}

func TestOddBytesAreKept(t *testing.T) { // case 41
	text := "\ufeff{\"a\":1}\r\n\x00\x1b[2K\r50%\r100%\n"
	result, _ := trial{steps: steps(step{Stdout: text})}.run(t)
	require.Equal(t, text, result.Stdout.Text())
}

func TestCanceledBeforeStart(t *testing.T) { // case 16
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnd)
	file := filepath.Join(t.TempDir(), "record")
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(step{Record: file})})
	_, err := proc.Run(ctx, proc.Command{Path: path})
	require.Equal(t, errEnd, err)
	_, err = os.Stat(file)
	require.ErrorIs(t, err, os.ErrNotExist, "nothing was started")
}
