package fake_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }

func steps(s ...fake.Step) fake.Scenario { return fake.Scenario{Steps: s} }

// run runs a fake that plays s. It returns the output and the exit code.
func run(t *testing.T, s fake.Scenario, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(fake.New(t, "fake", s), args...)
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

// In a test binary, a fake plays before the packages that it does not need are initialized.
func TestFakePlaysDuringInit(t *testing.T) {
	cmd := exec.Command(fake.New(t, "fake", steps()))
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	_, trace, status := finish(t, cmd, "")
	require.Zero(t, status, trace)
	require.Contains(t, trace, "init os ")
	require.NotContains(t, trace, "testify")
}

func TestWritesFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600))
	cmd := exec.Command(fake.New(t, "fake", steps(fake.Step{Write: map[string]string{"a/b": "new", "old": ""}})))
	cmd.Dir = dir
	_, _, status := finish(t, cmd, "")
	require.Zero(t, status)
	written, err := os.ReadFile(filepath.Join(dir, "a", "b"))
	require.NoError(t, err)
	require.Equal(t, "new", string(written))
	require.NoFileExists(t, filepath.Join(dir, "old"))
}

func TestPrints(t *testing.T) {
	for _, test := range []struct {
		name                  string
		steps                 []fake.Step
		stdin, stdout, stderr string
		status                int
	}{
		{name: "nothing"},
		{name: "both streams", steps: []fake.Step{{Stdout: "out"}, {Stderr: "err"}}, stdout: "out", stderr: "err"},
		{name: "in chunks", steps: []fake.Step{{Stdout: "abcde", Chunk: 2, Every: time.Microsecond}}, stdout: "abcde"},
		{name: "a status", steps: []fake.Step{fake.Exit(41), {Stdout: "never"}}, status: 41},
		{name: "status 0", steps: []fake.Step{fake.Exit(0), {Stdout: "never"}}},
		{name: "stdin", steps: []fake.Step{{ReadStdin: true}, {Echo: true}}, stdin: "a\nb", stdout: "a\nb"},
		{name: "a line", steps: []fake.Step{{ReadLine: true}, {Echo: true}}, stdin: "a\nb\n", stdout: "a\n"},
		{name: "each line", steps: []fake.Step{{EachLine: []fake.Step{{Stdout: ">"}, {Echo: true}}}},
			stdin: "a\nb\n", stdout: ">a\n>b\n"},
		{name: "closed stdout", steps: []fake.Step{{CloseStdout: true}, {Stderr: "on"}}, stderr: "on"},
		{name: "closed stdin", steps: []fake.Step{{CloseStdin: true}, {Stdout: "on"}}, stdout: "on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, status := run(t, steps(test.steps...), test.stdin)
			require.Equal(t, test.stdout, stdout)
			require.Equal(t, test.stderr, stderr)
			require.Equal(t, test.status, status)
		})
	}
}

func TestAwaitWaitsForFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	cmd := exec.Command(fake.New(t, "f", steps(fake.Step{Stdout: "a\n"}, fake.Step{Await: name}, fake.Step{Stdout: "b\n"})))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "a\n", line)
	rest := make(chan string, 1)
	go func() {
		line, _ := r.ReadString('\n')
		rest <- line
	}()
	select {
	case <-rest:
		require.Fail(t, "the fake did not wait")
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, os.WriteFile(name, nil, 0o600))
	require.Equal(t, "b\n", <-rest)
	require.NoError(t, cmd.Wait())
}

func TestFloodSize(t *testing.T) {
	stdout, stderr, _ := run(t, steps(fake.Step{FloodStdout: 200_001}, fake.Step{FloodStderr: 250}), "")
	require.Len(t, stdout, 200_001)
	require.Len(t, stderr, 250)
	require.Equal(t, 2, strings.Count(stderr, "\n"))
}

func TestFirstMatchingCase(t *testing.T) {
	path := fake.New(t, "fake", fake.Scenario{
		Cases: []fake.Case{
			{Args: []string{"--version"}, Steps: []fake.Step{{Stdout: "1.2.3"}}},
			{Once: true, Steps: []fake.Step{{Stdout: "first"}}},
			{Once: true, Steps: []fake.Step{{Stdout: "second"}}},
		},
		Steps: []fake.Step{{Stdout: "later"}},
	})
	for _, want := range []string{"first", "second", "later", "later"} {
		stdout, _, _ := finish(t, exec.Command(path, "ask"), "")
		require.Equal(t, want, stdout)
	}
	stdout, _, _ := finish(t, exec.Command(path, "--version"), "")
	require.Equal(t, "1.2.3", stdout)
}

func TestInstallReplacesFake(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"old", "new"} {
		path, err := fake.Install(dir, "fake", fake.Scenario{
			Cases: []fake.Case{{Once: true, Steps: []fake.Step{{Stdout: text}}}},
		})
		require.NoError(t, err)
		stdout, _, _ := finish(t, exec.Command(path), "")
		require.Equal(t, text, stdout)
	}
}

func TestFakeOnPath(t *testing.T) {
	dir := t.TempDir()
	_, err := fake.Install(dir, "fake-on-path", steps(fake.Step{Stdout: "found"}))
	require.NoError(t, err)
	t.Setenv("PATH", dir)
	stdout, _, _ := finish(t, exec.Command("fake-on-path"), "")
	require.Equal(t, "found", stdout)
}

func TestMissingScenario(t *testing.T) {
	path := fake.New(t, "fake", fake.Scenario{})
	require.NoError(t, os.Remove(path+".clitest.json"))
	_, stderr, status := finish(t, exec.Command(path), "")
	require.Contains(t, stderr, "has no scenario file")
	require.Equal(t, 70, status)
}

func TestRecordContents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "record.json")
	path := fake.New(t, "fake", steps(fake.Step{ReadLine: true}, fake.Step{Record: file}))
	cmd := exec.Command(path, "", "--help", "a\nb\xff'\"$x")
	cmd.Env, cmd.Dir = []string{"A=1"}, t.TempDir()
	stdin := "first\nsecond\xff\r\n"
	_, stderr, _ := finish(t, cmd, stdin)
	require.Empty(t, stderr)

	r, err := fake.ReadRecord(file)
	require.NoError(t, err)
	require.Equal(t, []string{path, "", "--help", "a\nb\ufffd'\"$x"}, r.Args, "JSON must be UTF-8")
	require.Equal(t, stdin, string(r.Stdin))
	require.Contains(t, r.Env, "A=1")
	require.Equal(t, cmd.Dir, r.Dir)
	require.Equal(t, cmd.Process.Pid, r.Pid)
}

// A directory receives a record of each start, with the contents of temporary files.
func TestRecordDirectory(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	inside, elsewhere := filepath.Join(temp, "system.md"), filepath.Join(t.TempDir(), "other.md")
	for _, file := range []string{inside, elsewhere} {
		require.NoError(t, os.WriteFile(file, []byte("of "+filepath.Base(file)), 0o600))
	}
	path := fake.New(t, "fake", steps(fake.Step{Record: dir}))
	for _, arg := range []string{"first", `{"prompt":"{file:` + inside + `}"}`, "--none=" + elsewhere} {
		cmd := exec.Command(path, arg)
		cmd.Env = []string{"TMPDIR=" + temp}
		_, stderr, _ := finish(t, cmd, "")
		require.Empty(t, stderr)
	}
	all, err := fake.ReadRecords(dir)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, "first", all[0].Args[1])
	require.Equal(t, map[string][]byte{inside: []byte("of system.md")}, all[1].Contents)
	require.Empty(t, all[2].Contents, "a file elsewhere is not part of the record")
}

// Without Main, the fake would run the whole test binary.
func TestInstallNeedsMain(t *testing.T) {
	t.Cleanup(fake.ForgetMain())
	_, err := fake.Install(t.TempDir(), "fake", fake.Scenario{})
	require.ErrorContains(t, err, "call clitest.Main() first")
}

func TestSignals(t *testing.T) {
	t.Run("kills itself", func(t *testing.T) {
		cmd := exec.Command(fake.New(t, "fake", steps(fake.Step{Kill: "TERM"}, fake.Step{Hang: true})))
		require.Error(t, cmd.Run())
		require.Equal(t, syscall.SIGTERM, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
	})
	t.Run("ignores", func(t *testing.T) {
		_, _, status := run(t, steps(fake.Step{Ignore: []string{"TERM"}}, fake.Step{Kill: "TERM"}, fake.Exit(3)), "")
		require.Equal(t, 3, status)
	})
	t.Run("exits on", func(t *testing.T) {
		_, _, status := run(t, steps(fake.Step{ExitOn: map[string]int{"INT": 7}}, fake.Step{Kill: "INT"}, fake.Step{Hang: true}), "")
		require.Equal(t, 7, status)
	})
	t.Run("unknown", func(t *testing.T) {
		_, stderr, status := run(t, steps(fake.Step{Kill: "NONE"}), "")
		require.Equal(t, 70, status)
		require.Contains(t, stderr, "unknown signal")
	})
}
