// Package fake provides fake command-line programs for tests and demos. Package [clitest] has the same names, and
// adds scenarios that depend on specs. Use this package directly in programs that install fakes outside tests, and
// in tests of packages that clitest imports.
//
// A fake is a symbolic link to the running executable, with its scenario in a file beside the link. It is a copy on
// Windows, where links need a privilege. It needs no compiler and no script: a newly written script may fail to start
// with "text file busy". The test binary must first call [Run] or [Main], which play the scenario:
//
//	func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }
//
//	func TestAnswer(t *testing.T) {
//		path := fake.New(t, "claude", fake.Scenario{Steps: []fake.Step{
//			{ReadStdin: true},
//			{Stdout: `{"type":"result","result":"42"}` + "\n"},
//		}})
//		// run path like the real program
//	}
//
// Scenarios are data. They can print, flood, stall, ignore signals, start children and daemons that try to escape, and
// record their exact input. The path of a fake is the first argument of all its processes, so that [Survivors] can find
// them. The package knows no CLI, and no other part of clichain.
//
// [clitest]: https://pkg.go.dev/github.com/clichain/clichain/clitest
package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/internal/fakes"
)

// sidecar is the suffix of the file beside a fake that contains its scenario.
const sidecar = ".clitest.json"

// TB is the part of [testing.TB] that this package needs. Programs that install fakes outside tests do not need package
// testing, which registers flags.
type TB interface {
	Helper()
	TempDir() string
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// called is set when this process calls Main. Without that call, a fake would run the whole program. In a test binary
// it would run all tests, whose fakes would run all tests again.
var called bool

// testBinary is the suffix of the files that "go test" builds.
const testBinary = ".test"

// init does the work of Main early in test binaries. Packages that are initialized later can take longer than the fake
// itself: 22 of 40 ms for each start with the race detector.
func init() {
	exe, err := os.Executable()
	if err != nil {
		return
	}
	if isTestBinary(exe) {
		fakes.Allow()
	}
	if isTestBinary(exe) || isCopy(exe) {
		_, _ = play()
	}
}

func isTestBinary(exe string) bool {
	return strings.HasSuffix(strings.TrimSuffix(exe, ".exe"), testBinary)
}

// Main plays the scenario and exits if this process was started as a fake. Otherwise it returns immediately. Call it
// first in TestMain, or in main of a program that installs fakes.
func Main() {
	called = true
	path, err := play()
	switch {
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		fail("%v", err)
	case isOrphanedLink(path):
		fail("%s has no scenario file %s", path, path+sidecar)
	}
}

// play plays the scenario of this process, or returns the reason why there is none. A link to the test binary may also
// serve another purpose, which its TestMain handles before it calls Main.
func play() (path string, err error) {
	if len(os.Args) == 0 {
		return "", nil
	}
	if len(os.Args) >= 3 && isChildFlag(os.Args[1]) {
		playChild(os.Args[1], os.Args[2])
	}
	path, err = exec.LookPath(os.Args[0])
	if err != nil {
		return "", nil
	}
	data, err := os.ReadFile(path + sidecar)
	if err == nil {
		playFake(path, data)
	}
	return path, err
}

// isOrphanedLink reports whether path is a link to a test binary, that is, a fake without its scenario. Such a fake
// would run the whole test suite, whose fakes would run it again.
func isOrphanedLink(path string) bool {
	target, err := os.Readlink(path)
	return err == nil && isTestBinary(target)
}

// Install creates the fake dir/name that plays s, and returns its absolute path, which ends in ".exe" on Windows. It
// replaces an existing fake of that name. Keep the link and the scenario until the fake has started. Install returns an
// error if the process has not called [Main].
//
// clichain does not confine a fake that is the program of the process itself, if that process is a test binary or has
// called Install. If a test runs another executable, the kernel confines the fakes there. They can then print answers,
// but write no records and no markers of used scenarios: set Config.Confine to ConfineOff there, or
// CLICHAIN_CONFINE=off for the command.
func Install(dir, name string, s Scenario) (string, error) {
	if !called {
		return "", errors.New("the fake would run this whole program: call clitest.Main() first in TestMain, or in main")
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(dir, strings.TrimSuffix(name, exeSuffix)+exeSuffix))
	if err != nil {
		return "", err
	}
	fakes.Allow()
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return "", fmt.Errorf("clitest: scenario of %s: %w", name, err)
	}
	for _, stale := range append(usedMarkers(path), path) {
		if err := os.Remove(stale); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if err := os.WriteFile(path+sidecar, data, 0o600); err != nil {
		return "", err
	}
	return path, place(exe, path)
}

// New installs the fake in a temporary directory of the test, and returns its absolute path. It fails the test on
// error. When the test ends, it kills processes of the fake that still run, so that they do not disturb later tests.
func New(t TB, name string, s Scenario) string {
	t.Helper()
	path, err := Install(t.TempDir(), name, s)
	if err != nil {
		t.Fatalf("clitest: %v", err)
	}
	t.Cleanup(func() { killSurvivors(path) })
	return path
}

// fail ends a fake that cannot play its scenario, with an exit code that scenarios do not use.
func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "clitest: "+format+"\n", args...)
	exit(70) // EX_SOFTWARE of sysexits(3)
}
