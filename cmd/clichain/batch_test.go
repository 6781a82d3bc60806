package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// slow installs a fake that answers after a delay.
func (w *world) slow(after time.Duration) (path string) {
	s := scenario("claude", "answer", "done")
	s.Steps = slices.Insert(s.Steps, 1, clitest.Step{Sleep: after})
	path, err := clitest.Install(w.bin, "claude", s)
	require.NoError(w.t, err)
	return path
}

// lines writes an input of n lines and returns its path. Every second line has an id.
func (w *world) lines(n int) (file string) {
	file = filepath.Join(w.t.TempDir(), "in.jsonl")
	var b strings.Builder
	for i := range n {
		if i%2 == 0 {
			fmt.Fprintf(&b, `{"id":"line-%d","prompt":"question %d"}`+"\n", i, i)
		} else {
			fmt.Fprintf(&b, `{"prompt":"question %d"}`+"\n", i)
		}
	}
	require.NoError(w.t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// records reads an output file. Each line must be complete.
func records(t *testing.T, file string) (all []batch.Record) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		require.True(t, bytes.HasSuffix(line, []byte("\n")), "%s", line)
		var r batch.Record
		require.NoError(t, json.Unmarshal(line, &r), "%s", line)
		all = append(all, r)
	}
	return all
}

func idsOf(records []batch.Record) (ids []string) {
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}

// lengthOf returns the length of a file, or 0 if it does not exist.
func lengthOf(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// gone waits until all processes of a fake have exited.
func gone(t *testing.T, path string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(clitest.Survivors(path)) == 0 }, 30*time.Second, 5*time.Millisecond)
}

// TestBatchWithSingleCLI runs a batch with a single CLI, which cannot stay running between calls.
func TestBatchWithSingleCLI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := scenario("claude", "answer", "hello")
	s.Cases = []clitest.Case{{
		Args:  []string{"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--input-format"},
		Steps: []clitest.Step{clitest.Exit(1)},
	}}
	path, err := clitest.Install(w.bin, "claude", s)
	require.NoError(t, err)
	cmd := w.command("batch", "-i", "-", "-o", "-")
	cmd.Stdin = strings.NewReader(`{"prompt":"hi"}` + "\n")
	out, err := cmd.Output()
	require.NoError(t, err)
	var r batch.Record
	require.NoError(t, json.Unmarshal(out, &r))
	require.Equal(t, "hello", r.Response.Text)
	require.Empty(t, clitest.Survivors(path))
}

// TestBatchWithoutWarmProcess checks that a CLI whose live mode does not answer delays no line and is reported.
func TestBatchWithoutWarmProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := scenario("claude", "answer", "hello")
	s.Cases = []clitest.Case{{
		Args:  []string{"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--input-format"},
		Steps: []clitest.Step{{ReadLine: true}, {Hang: true}},
	}}
	path, err := clitest.Install(w.bin, "claude", s)
	require.NoError(t, err)
	cmd := w.command("batch", "--timeout", "30m", "--budget", "5m") // waiting for the warm process would exceed the budget
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	var out bytes.Buffer
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(stdin, `{"prompt":"hi"}`+"\n")
	require.NoError(t, err)
	said := bufio.NewScanner(stderr)
	for said.Scan() && !strings.Contains(said.Text(), "claude: no warm process is available") {
		t.Log(said.Text())
	}
	require.Contains(t, said.Text(), "claude: no warm process is available, so each answer starts a process (as with --cold): the live process was not ready")
	_, err = io.WriteString(stdin, `{"prompt":"ho"}`+"\n"+`{"prompt":"ha"}`+"\n")
	require.NoError(t, err)
	require.NoError(t, stdin.Close())
	for said.Scan() {
		require.NotContains(t, said.Text(), "kept warm", "once")
	}
	require.NoError(t, cmd.Wait())
	require.Equal(t, 3, strings.Count(out.String(), `"text":"hello"`))
	require.Empty(t, clitest.Survivors(path))
}

// TestBatchInterrupted checks that Ctrl-C terminates all processes and prints how to resume the batch.
func TestBatchInterrupted(t *testing.T) {
	for _, test := range []struct {
		name   string
		out    string // if empty, a file
		signal os.Signal
		status int
		want   string
	}{
		{"file", "", os.Interrupt, 130, "interrupted: 2 of 2 lines are left: the same command continues the batch\n"},
		{"TERM", "", syscall.SIGTERM, 143, "the same command continues the batch\n"},
		{"stdout", "-", os.Interrupt, 130, "use -o FILE or --store to be able to continue a batch\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := w.fake("claude", "stubborn", "")
			out := test.out
			if out == "" {
				out = filepath.Join(t.TempDir(), "out.jsonl")
			}
			cmd := w.command("batch", "-i", w.lines(2), "-o", out, "--cold", "--timeout", "5m")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			require.NoError(t, cmd.Start())
			require.Eventually(t, func() bool { return len(clitest.Survivors(path)) > 0 }, 30*time.Second, time.Millisecond)
			require.NoError(t, cmd.Process.Signal(test.signal))
			require.Error(t, cmd.Wait())
			require.Equal(t, test.status, cmd.ProcessState.ExitCode(), "%s", &stderr)
			require.Contains(t, stderr.String(), test.want)
			require.Empty(t, clitest.Survivors(path))
			if test.out == "-" {
				return
			}
			w.fake("claude", "answer", "fine")
			said, err := w.command("batch", "-i", cmd.Args[3], "-o", out, "--cold").CombinedOutput()
			require.NoError(t, err, "%s", said)
			require.Len(t, records(t, out), 2)
		})
	}
}

// TestBatchSilentInput checks that Ctrl-C works while the batch waits for stdin.
func TestBatchSilentInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "hello")
	cmd := w.command("batch", "--cold")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(stdin, `{"id":"a","prompt":"hi"}`+"\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "a line is answered before the input ends")
	require.Contains(t, line, `{"id":"a","response":`)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode())
}

// TestBatchTwice checks that a second batch with the same output or store fails.
func TestBatchTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.fake("claude", "hang", "")
	dir := t.TempDir()
	in, out, store := w.lines(1), filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "store")
	first := w.command("batch", "-i", in, "--store", store, "--cold", "--timeout", "5m")
	second := w.command("batch", "-i", in, "-o", out, "--cold", "--timeout", "5m")
	for _, cmd := range []*exec.Cmd{first, second} {
		require.NoError(t, cmd.Start())
	}
	require.Eventually(t, func() bool { return len(clitest.Survivors(path)) == 2 }, 30*time.Second, time.Millisecond)
	for want, args := range map[string][]string{
		"is in use by process " + fmt.Sprint(first.Process.Pid): {"--store", store},
		"another batch writes it":                               {"-o", out, "--store", filepath.Join(dir, "other")},
	} {
		cmd := w.command(append([]string{"batch", "-i", in, "--cold"}, args...)...)
		said, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s", said)
		require.Contains(t, string(said), want)
	}
	for _, cmd := range []*exec.Cmd{first, second} {
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.Error(t, cmd.Wait())
	}
	require.Empty(t, clitest.Survivors(path))
}
