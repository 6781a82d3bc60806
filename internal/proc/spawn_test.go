//go:build unix

package proc_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
)

// write writes an executable file.
func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	// No fork may happen while the file is open for writing, because the file would be busy.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
	return path
}

func link(t *testing.T, target string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(target, path))
	return path
}

func TestSpawnErrors(t *testing.T) {
	sh := "/bin/sh"
	loop := filepath.Join(t.TempDir(), "loop")
	require.NoError(t, os.Symlink(loop, loop))
	file := write(t, "file", "", 0o600)
	for _, test := range []struct {
		name    string
		command proc.Command
		kind    proc.Kind
		is      error
	}{
		{"missing (case 1)", proc.Command{Path: "/nowhere/to/be/found"}, proc.NotFound, os.ErrNotExist},
		{"below a file (case 1)", proc.Command{Path: file + "/program"}, proc.NotFound, syscall.ENOTDIR},
		{"relative (case 9)", proc.Command{Path: "sh"}, proc.NotFound, nil},
		{"not executable (case 2)", proc.Command{Path: file}, proc.Permission, os.ErrPermission},
		{"directory (case 3)", proc.Command{Path: t.TempDir()}, proc.Permission, os.ErrPermission},
		{"no #! (case 4)", proc.Command{Path: write(t, "x", "echo hello\n", 0o700)}, proc.ExecFormat, syscall.ENOEXEC},
		{"empty (case 4)", proc.Command{Path: write(t, "x", "", 0o700)}, proc.ExecFormat, syscall.ENOEXEC},
		{"bad ELF (case 4)", proc.Command{Path: write(t, "x", "\x7fELFgarbage", 0o700)}, proc.ExecFormat, syscall.ENOEXEC},
		{"missing interpreter (case 5)", proc.Command{Path: write(t, "x", "#!/no/such/sh\n", 0o700)}, proc.Interpreter, os.ErrNotExist},
		{"CRLF after #! (case 5)", proc.Command{Path: write(t, "x", "#!/bin/sh\r\n", 0o700)}, proc.Interpreter, os.ErrNotExist},
		{"link loop (case 6)", proc.Command{Path: loop}, proc.NotFound, syscall.ELOOP},
		{"dangling link (case 6)", proc.Command{Path: link(t, "/nowhere")}, proc.NotFound, os.ErrNotExist},
		{"missing directory (case 7)", proc.Command{Path: sh, Dir: "/nowhere"}, proc.BadDir, os.ErrNotExist},
		{"file as directory (case 8)", proc.Command{Path: sh, Dir: file}, proc.BadDir, syscall.ENOTDIR},
		{"argument of 128 KiB (case 13)", proc.Command{Path: sh, Args: []string{"sh", strings.Repeat("x", 1<<17)}}, proc.ArgTooBig, syscall.E2BIG},
		{"variable of 128 KiB (case 13)", proc.Command{Path: sh, Env: []string{"A=" + strings.Repeat("x", 1<<17)}}, proc.ArgTooBig, syscall.E2BIG},
		{"all arguments (case 15)", proc.Command{Path: sh, Args: manyArguments()}, proc.ArgTooBig, syscall.E2BIG},
		{"NUL in path (case 14)", proc.Command{Path: "/bin/s\x00h"}, proc.ArgNUL, nil},
		{"NUL in argument (case 14)", proc.Command{Path: sh, Args: []string{"sh", "a\x00"}}, proc.ArgNUL, nil},
		{"NUL in environment (case 14)", proc.Command{Path: sh, Env: []string{"A=\x00"}}, proc.ArgNUL, nil},
		{"NUL in directory (case 14)", proc.Command{Path: sh, Dir: "/\x00"}, proc.ArgNUL, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			warmUp(t)
			fake.NoLeaks(t)
			_, err := proc.Run(t.Context(), test.command)
			var e *proc.SpawnError
			require.ErrorAs(t, err, &e)
			require.Equal(t, test.kind, e.Kind, "%v", err)
			require.False(t, e.Retryable())
			if test.is != nil {
				require.ErrorIs(t, err, test.is)
			}
		})
	}
}

// manyArguments returns arguments that are short, but together exceed any limit of Linux.
func manyArguments() []string {
	args := []string{"sh"}
	for range 64 {
		args = append(args, strings.Repeat("x", 1<<17-1))
	}
	return args
}

func TestLongestArgumentArrives(t *testing.T) { // case 13
	arg := strings.Repeat("x", 1<<17-1)
	r := record(t, trial{args: []string{arg}})
	require.Equal(t, arg, r.Args[1])
}

func TestClosedDirectory(t *testing.T) { // case 8
	if os.Getuid() == 0 {
		t.Skip("root may enter every directory")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o600))
	_, err := proc.Run(t.Context(), proc.Command{Path: "/bin/sh", Dir: dir})
	var e *proc.SpawnError
	require.ErrorAs(t, err, &e)
	require.Equal(t, proc.BadDir, e.Kind)
}

func TestStartRetriesBusyProgram(t *testing.T) { // case 10
	path := filepath.Join(t.TempDir(), "script")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o700)
	require.NoError(t, err)
	_, err = f.WriteString("#!/bin/sh\necho ran\n")
	require.NoError(t, err)
	var wg sync.WaitGroup
	timer := time.AfterFunc(20*time.Millisecond, func() { wg.Go(func() { _ = f.Close() }) })
	defer timer.Stop()
	result, err := proc.Run(t.Context(), proc.Command{Path: path})
	wg.Wait()
	require.NoError(t, err)
	require.Equal(t, "ran\n", result.Stdout.Text())
}

func TestStartFailsForBusyProgram(t *testing.T) { // case 10
	path := filepath.Join(t.TempDir(), "script")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o700)
	require.NoError(t, err)
	defer f.Close()
	_, err = proc.Run(t.Context(), proc.Command{Path: path})
	var e *proc.SpawnError
	require.ErrorAs(t, err, &e)
	require.True(t, e.Retryable())
	require.ErrorIs(t, err, syscall.ETXTBSY)
}

func TestProgramReplacedDuringRun(t *testing.T) { // case 18
	dir := t.TempDir()
	path := filepath.Join(dir, "fake")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	install := func(text string) {
		fresh, err := fake.Install(t.TempDir(), "fake", fake.Scenario{Steps: steps(step{Stdout: text})})
		require.NoError(t, err)
		require.NoError(t, os.Rename(fresh+".clitest.json", path+".clitest.json"))
		require.NoError(t, os.Rename(fresh, path))
	}
	install("old")
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				install([]string{"new", "old"}[i%2])
			}
		}
	})
	for range 20 {
		result, err := proc.Run(t.Context(), proc.Command{Path: path})
		require.NoError(t, err)
		require.Contains(t, []string{"old", "new"}, result.Stdout.Text())
	}
	close(stop)
	wg.Wait()
}
