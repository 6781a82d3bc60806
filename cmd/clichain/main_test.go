package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/internal/leaks/parallel"
	"github.com/clichain/clichain/internal/norace"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	clitest.Main()
	testscript.Main(inOwnHome{m}, map[string]func(){"clichain": main})
}

// inOwnHome runs the tests, but not the commands that they start, with a new home directory.
type inOwnHome struct{ *testing.M }

func (m inOwnHome) Run() int {
	parallel.Default(4 * runtime.GOMAXPROCS(0)) // most tests wait for processes
	return clitest.Run(m.M)
}

// concurrentScripts are the scripts in which a command does several things at a time. They run the command with the race
// detector if the test does. The others do so only with CLICHAIN_CONFORMANCE=long, because each start of the command
// with the race detector takes 0.15 s of CPU time.
var concurrentScripts = []string{"ask", "batch", "queue", "serve", "stream"}

// quickExit keeps programs built with the race detector from sleeping for a
// second before they exit.
const quickExit = "GORACE=atexit_sleep_ms=0"

// noCooldowns prevents failures in one test from suppressing backends in another test.
const noCooldowns = selection.CooldownsVariable + "=off"

// noHurry prevents timeouts on a busy machine.
const noHurry = selection.TimeoutVariable + "=2m"

// unconfined keeps the confinement off, because fakes write records to directories of the test.
const unconfined = "CLICHAIN_CONFINE=off"

// logins are keys for the fakes, because clichain does not start a CLI without credentials.
var logins = []string{"ANTHROPIC_API_KEY=x", "GEMINI_API_KEY=x", "CURSOR_API_KEY=x", "CODEX_API_KEY=x"}

// TestScripts runs the command as a separate process. PATH contains only the command and the fakes, so that no real
// CLI of this machine runs.
func TestScripts(t *testing.T) {
	t.Parallel()
	raceFree := ""
	if norace.Race && os.Getenv("CLICHAIN_CONFORMANCE") != "long" {
		raceFree = t.TempDir()
		require.NoError(t, norace.Build(filepath.Join(raceFree, "clichain"), "."))
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			bin := filepath.Join(env.WorkDir, "bin")
			command := filepath.Dir(program())
			if raceFree != "" && !slices.Contains(concurrentScripts, strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")) {
				command = raceFree
			}
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+command)
			env.Setenv(temporaryVariable(), filepath.Join(env.WorkDir, ".tmp"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			for _, kv := range append([]string{quickExit, noCooldowns, noHurry, unconfined}, logins...) {
				name, value, _ := strings.Cut(kv, "=")
				env.Setenv(name, value)
			}
			return os.MkdirAll(bin, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fake":   fakeCommand,
			"exits":  exitsCommand,
			"stable": stableCommand,
		},
	})
}

// temporaryVariable returns the environment variable that names the temporary directory.
func temporaryVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}

// program returns the path of the command that testscript.Main has put on PATH.
func program() string {
	path, err := exec.LookPath("clichain")
	if err != nil {
		panic(err)
	}
	return path
}

// fakeCommand implements the script command "fake NAME KIND [TEXT]", which installs a fake.
func fakeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fake NAME KIND [TEXT]")
	}
	text := strings.Join(args[2:], " ")
	if args[1] == "record" {
		text = ts.MkAbs(text)
	}
	path, err := clitest.Install(ts.MkAbs("bin"), args[0], scenario(args[0], args[1], text))
	ts.Check(err)
	if runtime.GOOS == "windows" { // there the fake is a copy of the program, and the kernel confines no CLI
		return
	}
	// The fake must be the program of the command, which may be built without the race detector.
	ts.Check(os.Remove(path))
	ts.Check(os.Symlink(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[1], filepath.Base(program())), path))
}

// exitsCommand implements the script command "exits CODE ARGS...", which runs clichain and checks its exit code.
func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits STATUS ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("clichain", args[1:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("clichain: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("clichain %q: exit status %d instead of %d", args[1:], got, want)
	}
}

var unstable = regexp.MustCompile(`"duration_ms": ?[0-9.]+`)

// stableCommand implements a script command that writes the last stdout to a file, without values that differ between
// runs.
func stableCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: stable FILE")
	}
	text := unstable.ReplaceAllString(ts.ReadFile("stdout"), `"duration_ms":0`)
	text = strings.ReplaceAll(text, ts.Getenv("WORK"), "$WORK")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
