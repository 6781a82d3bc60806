package proc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// The test binary plays other programs if this variable names one. Its value for a program may follow a space.
const roleVariable = "CLICHAIN_TEST_ROLE"

func TestMain(m *testing.M) {
	fake.Main()
	switch os.Getenv(roleVariable) {
	case "host": // runs the program in the next variable until it is killed
		_, err := proc.Run(context.Background(), proc.Command{Path: os.Getenv("CLICHAIN_TEST_PROGRAM")})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case "breakaway": // starts the program in the next variable outside the job
		cmd := exec.Cmd{Path: os.Getenv("CLICHAIN_TEST_PROGRAM")}
		cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_BREAKAWAY_FROM_JOB}
		fmt.Println(errors.Is(cmd.Start(), windows.ERROR_ACCESS_DENIED))
		os.Exit(0)
	}
	os.Exit(fake.Run(m))
}

func eventually(t *testing.T, path string, want int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(fake.Survivors(path)) == want }, time.Minute, 10*time.Millisecond)
}

var hang = fake.Step{Hang: true}

// families are programs with children that try to stay.
var families = map[string]struct {
	spawn     fake.Spawn
	processes int
}{
	"child":         {fake.Spawn{Steps: []fake.Step{hang}}, 2},
	"group":         {fake.Spawn{Steps: []fake.Step{hang}, Setsid: true, Count: 3}, 4},
	"daemon":        {fake.Spawn{Steps: []fake.Step{hang}, Daemon: true}, 2},
	"grandchildren": {fake.Spawn{Steps: []fake.Step{{Spawn: &fake.Spawn{Steps: []fake.Step{hang}, Setsid: true}}, hang}}, 3},
}

// install returns a fake with a family. wait waits until all its processes have started: wine 8 forgets a process that is
// killed before that.
func install(t *testing.T, name string) (path string, wait func()) {
	family, ready := families[name], filepath.Join(t.TempDir(), "ready")
	path = fake.New(t, "job-"+name, fake.Scenario{
		Steps: []fake.Step{{Spawn: &family.spawn}, {Write: map[string]string{ready: "yes"}}, hang},
	})
	return path, func() {
		require.Eventually(t, func() bool {
			_, err := os.Stat(ready)
			return err == nil
		}, time.Minute, 10*time.Millisecond)
		eventually(t, path, family.processes)
	}
}

func TestJobEndsFamilies(t *testing.T) {
	for name, family := range families {
		t.Run(name, func(t *testing.T) {
			path, wait := install(t, name)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan proc.Result, 1)
			go func() {
				result, _ := proc.Run(ctx, proc.Command{Path: path, Grace: -1}) // its result shows an error
				done <- result
			}()
			wait()
			cancel()
			result := <-done
			require.True(t, result.TreeClean)
			require.GreaterOrEqual(t, result.Leftovers, family.processes-1) // wine adds a process for the console
			eventually(t, path, 0)
		})
	}
}

// A program that exits leaves nothing behind.
func TestJobEndsChildrenOfEndedProgram(t *testing.T) {
	steps := []fake.Step{{Spawn: &fake.Spawn{Steps: []fake.Step{hang}, Setsid: true}}, fake.Exit(3)}
	path := fake.New(t, "job-exits", fake.Scenario{Steps: steps})
	result, err := proc.Run(t.Context(), proc.Command{Path: path})
	require.NoError(t, err)
	require.True(t, result.TreeClean)
	require.Positive(t, result.Leftovers)
	require.Equal(t, 3, result.ExitCode)
	eventually(t, path, 0)
}

func TestJobEndsWithHost(t *testing.T) {
	for name := range families {
		t.Run(name, func(t *testing.T) {
			path, wait := install(t, name)
			host := exec.Command(os.Args[0])
			host.Env = append(os.Environ(), roleVariable+"=host", "CLICHAIN_TEST_PROGRAM="+path)
			require.NoError(t, host.Start())
			wait()
			require.NoError(t, host.Process.Kill())
			require.Error(t, host.Wait())
			eventually(t, path, 0)
		})
	}
}

// A shim of npm is a batch file. Its interpreter would expand such arguments, and run a part of them as commands.
func TestShimOfNpm(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record.json")
	path := fake.New(t, "native", fake.Scenario{Steps: []fake.Step{{Record: record}}})
	text, err := os.ReadFile("../npmshim/testdata/native.cmd")
	require.NoError(t, err)
	shim := filepath.Join(filepath.Dir(path), "claude.cmd")
	text = bytes.Replace(text, []byte(`node_modules\a\bin\native.exe`), []byte("native.exe"), 1)
	require.NoError(t, os.WriteFile(shim, text, 0o600))
	args := []string{"claude", "%PATH%", `"`, `" & echo x > y & "`, "a^b", "|", "line\nline\r\n", "!x!", ""}
	result, err := proc.Run(t.Context(), proc.Command{Path: shim, Args: args, Env: os.Environ()})
	require.NoError(t, err)
	require.Zero(t, result.ExitCode, result.Stderr.Text())
	seen, err := fake.ReadRecord(record)
	require.NoError(t, err)
	require.Equal(t, args[1:], seen.Args[1:])

	require.NoError(t, os.WriteFile(shim, []byte("@echo off\r\nclaude.exe %*\r\n"), 0o600))
	_, err = proc.Run(t.Context(), proc.Command{Path: shim, Args: args})
	require.ErrorContains(t, err, "use the program that it starts: the file is no shim of npm")
}

// Blanks and characters of the command interpreter in a path do not matter, because none is started.
func TestProgramInDirectoryWithBlanks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Program Files (x86)", "a & b")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	path, err := fake.Install(dir, "cli", fake.Scenario{Steps: []fake.Step{{Stdout: "done"}}})
	require.NoError(t, err)
	result, err := proc.Run(t.Context(), proc.Command{Path: path, Dir: dir, Env: os.Environ()})
	require.NoError(t, err)
	require.Equal(t, "done", string(result.Stdout.Head))
}

func TestJobRefusesBreakaway(t *testing.T) {
	path := fake.New(t, "job-breaks-away", fake.Scenario{Steps: []fake.Step{hang}})
	result, err := proc.Run(t.Context(), proc.Command{
		Path: os.Args[0],
		Env:  append(os.Environ(), roleVariable+"=breakaway", "CLICHAIN_TEST_PROGRAM="+path),
	})
	require.NoError(t, err)
	require.Equal(t, "true\n", string(result.Stdout.Head))
	eventually(t, path, 0)
}
