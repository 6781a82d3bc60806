// Package fake provides fake command-line programs for tests and demos: the ground floor of [clitest], which has all
// of it under the same names, and beside it what knows specs. It is for tests of what the kit is made of, and for
// programs that install fakes outside tests.
//
// A fake is a symbolic link to the running executable with its scenario in a file beside it, so nothing is compiled and
// no script is written: a freshly written script may fail to start with "text file busy". The test binary must call
// [Main] first, which plays the scenario:
//
//	func TestMain(m *testing.M) {
//		fake.Main()
//		os.Exit(m.Run())
//	}
//
//	func TestAnswer(t *testing.T) {
//		path := fake.New(t, "claude", fake.Scenario{Steps: []fake.Step{
//			{ReadStdin: true},
//			{Stdout: `{"type":"result","result":"42"}` + "\n"},
//		}})
//		// run path like the real program
//	}
//
// Scenarios are data. They can print, flood, stall, ignore signals, start children and daemons that try to get away,
// and record byte for byte what they were started with. The path of a fake is the first argument of all its
// processes, which lets [Survivors] find them. The package knows no CLI and imports the standard library only.
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
)

// sidecar is added to the path of a fake to name the file with its scenario.
const sidecar = ".clitest.json"

// TB is the part of [testing.TB] that this package needs. It keeps package testing, and the flags it registers, out of
// programs that install fakes outside tests.
type TB interface {
	Helper()
	TempDir() string
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// called says that Main was called in this process. Without it a fake would run this whole program: a test binary all
// its tests, and those their fakes, without end.
var called bool

// testBinary ends the name of the file that "go test" builds.
const testBinary = ".test"

// init does early what Main does, in test binaries alone. What else is in one is initialized after this package, which
// imports little, and can take longer than all that a fake does: 22 of 40 ms with the race detector, at each start.
func init() {
	if exe, err := os.Executable(); err == nil && isTestBinary(exe) {
		_, _ = play()
	}
}

func isTestBinary(exe string) bool {
	return strings.HasSuffix(strings.TrimSuffix(exe, ".exe"), testBinary)
}

// Main plays the scenario if this process was started as a fake, and then never returns. Otherwise it returns at once.
// Call it first in TestMain, or in main of a program that installs fakes.
func Main() {
	called = true
	path, err := play()
	switch {
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		fail("%v", err)
	case isOrphanedLink(path):
		fail("%s has lost its scenario %s", path, path+sidecar)
	}
}

// play plays the scenario of this process, and tells why it has none. What is started by such a link may be something
// else of the program's own, which its TestMain looks at before it calls Main.
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

// isOrphanedLink reports whether path is a link to a test binary: a fake without its scenario, which would otherwise
// run the whole test suite, and that suite its fakes, without end.
func isOrphanedLink(path string) bool {
	target, err := os.Readlink(path)
	return err == nil && isTestBinary(target)
}

// Install creates the fake dir/name that plays s, and returns its absolute path. A fake of that name that is already
// there is replaced. Link and scenario must stay until the fake has started. It is an error if [Main] was not called.
func Install(dir, name string, s Scenario) (string, error) {
	if !called {
		return "", errors.New("the fake would run this whole program: call clitest.Main() first in TestMain, or in main")
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return "", err
	}
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
	return path, os.Symlink(exe, path)
}

// New installs the fake in a temporary directory of the test, and returns its absolute path. It ends the test if that
// fails. Processes of the fake that outlive the test are killed, so that one failure does not disturb later tests.
func New(t TB, name string, s Scenario) string {
	t.Helper()
	path, err := Install(t.TempDir(), name, s)
	if err != nil {
		t.Fatalf("clitest: %v", err)
	}
	t.Cleanup(func() { killSurvivors(path) })
	return path
}

// fail ends a fake whose scenario cannot be played, with a status that scenarios do not use.
func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "clitest: "+format+"\n", args...)
	exit(70) // EX_SOFTWARE of sysexits(3)
}
