package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/live"
)

// The test binary plays the worker and the CLI.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "worker-agent" {
		playAgent()
		os.Exit(0)
	}
	if os.Getenv("WORKER_MAIN") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(fake.Run(m))
}

// run is a running worker.
type run struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	errors lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func start(t *testing.T, args ...string) *run {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	r := &run{cmd: exec.Command(exe, args...)}
	r.cmd.Env = append(os.Environ(), "WORKER_MAIN=1", "CLICHAIN_SPECS="+agent(t), "SKIP_CLI=")
	r.cmd.Stderr = &r.errors
	r.in, err = r.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := r.cmd.StdoutPipe()
	require.NoError(t, err)
	r.out = bufio.NewScanner(out)
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	return r
}

// next returns the next line of the output, nil at its end.
func (r *run) next(t *testing.T) *answer {
	t.Helper()
	if !r.out.Scan() {
		return nil
	}
	var a answer
	require.NoError(t, json.Unmarshal(r.out.Bytes(), &a))
	return &a
}

// finish returns the rest of the output and the exit code. It fails the test if a CLI still runs.
func (r *run) finish(t *testing.T) (rest []*answer, status int) {
	t.Helper()
	for a := r.next(t); a != nil; a = r.next(t) {
		rest = append(rest, a)
	}
	_ = r.cmd.Wait() // the test checks the exit code
	t.Logf("%s", r.errors.String())
	require.NotContains(t, r.errors.String(), "may be left")
	require.Contains(t, r.errors.String(), "pool closed")
	return rest, r.cmd.ProcessState.ExitCode()
}

var answered = regexp.MustCompile(`^(\d+|cold): (.*)$`)

// requireAnswer checks an answer against its prompt, and returns the process that gave it, 0 for a cold call.
func requireAnswer(t *testing.T, prompt string, a *answer) (pid int) {
	t.Helper()
	require.NotNil(t, a)
	parts := answered.FindStringSubmatch(a.Text)
	require.NotNil(t, parts, "%+v", a)
	require.Equal(t, prompt, parts[2])
	require.Equal(t, "lumen", a.Backend)
	pid, _ = strconv.Atoi(parts[1])
	return pid
}

func requireGone(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil && pid > 0 {
		require.Error(t, p.Signal(syscall.Signal(0)), "process %d is left", pid)
	}
}

// Each prompt has its own answer, and no process outlives the worker.
func TestWorkerAnswersAll(t *testing.T) {
	r := start(t)
	const prompts = 40
	go func() {
		for i := range prompts {
			_, _ = fmt.Fprintf(r.in, "question %d\n\n", i)
		}
		_ = r.in.Close()
	}()
	all, status := r.finish(t)
	require.Zero(t, status)
	require.Len(t, all, prompts)
	seen := map[int]bool{}
	for _, a := range all {
		require.False(t, seen[a.Line])
		seen[a.Line] = true
		requireGone(t, requireAnswer(t, fmt.Sprintf("question %d", a.Line/2), a))
	}
}

// A prompt without an answer has a reason, and changes the exit code.
func TestFailures(t *testing.T) {
	r := start(t)
	_, _ = io.WriteString(r.in, "fail now\n")
	require.NoError(t, r.in.Close())
	all, status := r.finish(t)
	require.Equal(t, 1, status)
	require.Len(t, all, 1)
	require.Equal(t, clichain.ReasonRateLimited, all[0].Reason)
	require.Contains(t, all[0].Error, "429 rate limited")
}

// After a signal, only the prompts in flight are answered, within the grace period.
func TestWorkerDrains(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system has no such signals")
	}
	for name, test := range map[string]struct {
		prompt string
		grace  time.Duration
		reason clichain.Reason
	}{
		"in time":  {"slow one", time.Minute, ""},
		"too late": {"hang for ever", 100 * time.Millisecond, clichain.ReasonCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "-grace="+test.grace.String())
			_, _ = io.WriteString(r.in, "first\n")
			pid := requireAnswer(t, "first", r.next(t))
			_, _ = io.WriteString(r.in, test.prompt+"\n")
			time.Sleep(200 * time.Millisecond) // until the worker has read it
			require.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM))
			rest, status := r.finish(t)
			require.Equal(t, 1, status, "the input has not ended")
			require.Len(t, rest, 1)
			require.Equal(t, 2, rest[0].Line)
			if require.Equal(t, test.reason, rest[0].Reason); test.reason == "" {
				requireGone(t, requireAnswer(t, test.prompt, rest[0]))
			}
			requireGone(t, pid)
		})
	}
}

// converse is the snippet of docs/how-to/live.md.
func converse(ctx context.Context, p *clichain.Provider, texts ...string) (answers []string, err error) {
	s := live.New(p, &live.Config{
		Request:      clichain.Request{Access: clichain.AccessWrite, Dir: "."},
		OnPermission: func(_ context.Context, q live.Question) bool { return q.Tool == "Read" },
	})
	defer s.Stop()
	if err := s.Start(ctx); err != nil {
		return nil, err
	}
	for _, text := range texts {
		resp, err := s.Ask(ctx, text)
		if err != nil {
			return answers, err
		}
		answers = append(answers, resp.Text)
	}
	return answers, nil
}

func TestConverses(t *testing.T) {
	list, err := loadSpecs(agent(t))
	require.NoError(t, err)
	answers, err := converse(t.Context(), clichain.NewProvider(list[0], nil), "one", "two")
	require.NoError(t, err)
	require.Len(t, answers, 2)
	require.True(t, strings.HasSuffix(answers[1], ": one|two"), answers[1])
}

// The code in docs/how-to/live.md must compile, so that it is compared with the function here.
func TestLivePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/live.md")
	require.NoError(t, err)
	var code string
	for _, file := range []string{"main.go", "main_test.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		code += string(text)
	}
	blocks := strings.Split(string(page), "\n```go\n")[1:]
	require.Len(t, blocks, 2)
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "\n```")
		require.Contains(t, code, block)
	}
}
