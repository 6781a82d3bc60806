package clitest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	clitest.Main()
	os.Exit(m.Run())
}

func steps(s ...clitest.Step) clitest.Scenario { return clitest.Scenario{Steps: s} }

// run runs a fake that plays s and returns what it printed and its exit status.
func run(t *testing.T, s clitest.Scenario, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(clitest.Fake(t, "fake", s), args...)
	return finish(t, cmd, stdin)
}

func finish(t *testing.T, cmd *exec.Cmd, stdin string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil {
		require.ErrorAs(t, err, new(*exec.ExitError))
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestPrints(t *testing.T) {
	for _, test := range []struct {
		name                  string
		steps                 []clitest.Step
		stdin, stdout, stderr string
		status                int
	}{
		{name: "nothing"},
		{name: "both streams", steps: []clitest.Step{{Stdout: "out"}, {Stderr: "err"}}, stdout: "out", stderr: "err"},
		{name: "in chunks", steps: []clitest.Step{{Stdout: "abcde", Chunk: 2, Every: time.Microsecond}}, stdout: "abcde"},
		{name: "a status", steps: []clitest.Step{clitest.Exit(41), {Stdout: "never"}}, status: 41},
		{name: "status 0", steps: []clitest.Step{clitest.Exit(0), {Stdout: "never"}}},
		{name: "stdin", steps: []clitest.Step{{ReadStdin: true}, {Echo: true}}, stdin: "a\nb", stdout: "a\nb"},
		{name: "a line", steps: []clitest.Step{{ReadLine: true}, {Echo: true}}, stdin: "a\nb\n", stdout: "a\n"},
		{name: "each line", steps: []clitest.Step{{EachLine: []clitest.Step{{Stdout: ">"}, {Echo: true}}}},
			stdin: "a\nb\n", stdout: ">a\n>b\n"},
		{name: "closed stdout", steps: []clitest.Step{{CloseStdout: true}, {Stderr: "on"}}, stderr: "on"},
		{name: "closed stdin", steps: []clitest.Step{{CloseStdin: true}, {Stdout: "on"}}, stdout: "on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, status := run(t, steps(test.steps...), test.stdin)
			require.Equal(t, test.stdout, stdout)
			require.Equal(t, test.stderr, stderr)
			require.Equal(t, test.status, status)
		})
	}
}

func TestFloodsToTheByte(t *testing.T) {
	stdout, stderr, _ := run(t, steps(clitest.Step{FloodStdout: 200_001}, clitest.Step{FloodStderr: 250}), "")
	require.Len(t, stdout, 200_001)
	require.Len(t, stderr, 250)
	require.Equal(t, 2, strings.Count(stderr, "\n"))
}

func TestPlaysTheFirstCaseThatApplies(t *testing.T) {
	path := clitest.Fake(t, "fake", clitest.Scenario{
		Cases: []clitest.Case{
			{Args: []string{"--version"}, Steps: []clitest.Step{{Stdout: "1.2.3"}}},
			{Once: true, Steps: []clitest.Step{{Stdout: "first"}}},
			{Once: true, Steps: []clitest.Step{{Stdout: "second"}}},
		},
		Steps: []clitest.Step{{Stdout: "later"}},
	})
	for _, want := range []string{"first", "second", "later", "later"} {
		stdout, _, _ := finish(t, exec.Command(path, "ask"), "")
		require.Equal(t, want, stdout)
	}
	stdout, _, _ := finish(t, exec.Command(path, "--version"), "")
	require.Equal(t, "1.2.3", stdout)
}

func TestInstallReplacesAFake(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"old", "new"} {
		path, err := clitest.Install(dir, "fake", clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: []clitest.Step{{Stdout: text}}}},
		})
		require.NoError(t, err)
		stdout, _, _ := finish(t, exec.Command(path), "")
		require.Equal(t, text, stdout)
	}
}

func TestIsFoundThroughPath(t *testing.T) {
	dir := t.TempDir()
	_, err := clitest.Install(dir, "fake-on-path", steps(clitest.Step{Stdout: "found"}))
	require.NoError(t, err)
	t.Setenv("PATH", dir)
	stdout, _, _ := finish(t, exec.Command("fake-on-path"), "")
	require.Equal(t, "found", stdout)
}

func TestWithoutScenarioItFails(t *testing.T) {
	path := clitest.Fake(t, "fake", clitest.Scenario{})
	require.NoError(t, os.Remove(path+".clitest.json"))
	_, stderr, status := finish(t, exec.Command(path), "")
	require.Contains(t, stderr, "has lost its scenario")
	require.Equal(t, 70, status)
}

func TestRecordsWhatArrived(t *testing.T) {
	file := filepath.Join(t.TempDir(), "record.json")
	path := clitest.Fake(t, "fake", steps(clitest.Step{ReadLine: true}, clitest.Step{Record: file}))
	cmd := exec.Command(path, "", "--help", "a\nb\xff'\"$x")
	cmd.Env, cmd.Dir = []string{"A=1"}, t.TempDir()
	stdin := "first\nsecond\xff\r\n"
	_, stderr, _ := finish(t, cmd, stdin)
	require.Empty(t, stderr)

	r, err := clitest.ReadRecord(file)
	require.NoError(t, err)
	require.Equal(t, []string{path, "", "--help", "a\nb\ufffd'\"$x"}, r.Args, "JSON has no other bytes than UTF-8")
	require.Equal(t, stdin, string(r.Stdin))
	require.Contains(t, r.Env, "A=1")
	require.Equal(t, cmd.Dir, r.Dir)
	require.Equal(t, cmd.Process.Pid, r.Pid)
}

func TestSignals(t *testing.T) {
	t.Run("kills itself", func(t *testing.T) {
		cmd := exec.Command(clitest.Fake(t, "fake", steps(clitest.Step{Kill: "TERM"}, clitest.Step{Hang: true})))
		require.Error(t, cmd.Run())
		require.Equal(t, syscall.SIGTERM, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
	})
	t.Run("ignores", func(t *testing.T) {
		_, _, status := run(t, steps(clitest.Step{Ignore: []string{"TERM"}}, clitest.Step{Kill: "TERM"}, clitest.Exit(3)), "")
		require.Equal(t, 3, status)
	})
	t.Run("exits on", func(t *testing.T) {
		_, _, status := run(t, steps(clitest.Step{ExitOn: map[string]int{"INT": 7}}, clitest.Step{Kill: "INT"}, clitest.Step{Hang: true}), "")
		require.Equal(t, 7, status)
	})
	t.Run("unknown", func(t *testing.T) {
		_, stderr, status := run(t, steps(clitest.Step{Kill: "NONE"}), "")
		require.Equal(t, 70, status)
		require.Contains(t, stderr, "unknown signal")
	})
}
