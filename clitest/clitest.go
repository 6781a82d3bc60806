// Package clitest tests specs, and programs that use clichain, without a CLI, an account or a network.
//
// [TestSpec] checks a spec as far as possible without its CLI. [Answer], [LoggedOut], [LimitUntil] and the other
// scenarios describe common situations. A fake plays a scenario in place of the CLI, with the output of that CLI:
//
//	func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }
//
//	func TestFallsBack(t *testing.T) {
//		first, second := specs.Claude(), specs.Codex()
//		chain := clichain.ChainOf([]clichain.Backend{
//			clichain.NewProvider(first, &clichain.Config{Binary: clitest.Fake(t, "claude", clitest.LoggedOut(first))}),
//			clichain.NewProvider(second, &clichain.Config{Binary: clitest.Fake(t, "codex", clitest.Answer(second, "42"))}),
//		}, nil)
//		// the answer is 42, after one attempt
//	}
//
// A [Recorder] is a fake that records the input that it [Received]. Scenarios are data and consist of [Step] values. If
// no scenario of this package fits, write one. Package fake documents the names that this package takes from it.
package clitest

import (
	"github.com/clichain/clichain/clitest/fake"
)

// These names are the parts of a scenario, the record of a fake, and its processes. Package fake documents them.
type (
	Scenario = fake.Scenario // actions of a fake
	Case     = fake.Case     // alternative of a scenario
	Step     = fake.Step     // one action of a fake
	Spawn    = fake.Spawn    // children of a fake
	Survivor = fake.Survivor // running process of a fake
	TB       = fake.TB       // part of testing.TB that this package needs
)

// Main plays the scenario and exits if this process was started as a fake. Otherwise it returns immediately. Call it
// first in TestMain, or in main of a program that installs fakes.
func Main() { fake.Main() }

// Run calls [Main], then runs the tests and returns their exit code. The tests get their own empty home directory and
// temporary directory, so that the user's files and other programs do not affect them. m is the [testing.M] of
// TestMain.
func Run(m interface{ Run() int }) int { return fake.Run(m) }

// Fake installs the fake in a temporary directory of the test, and returns its absolute path. It fails the test on
// error. When the test ends, it kills processes of the fake that still run.
func Fake(t TB, name string, s Scenario) string {
	t.Helper()
	return fake.New(t, name, s)
}

// Install creates the fake dir/name that plays s, and returns its absolute path. It replaces an existing fake of that
// name. Keep the link and the scenario until the fake has started. Install returns an error if the process has not
// called [Main].
func Install(dir, name string, s Scenario) (string, error) { return fake.Install(dir, name, s) }

// Exit returns the step that ends the fake with the given exit code.
func Exit(status int) Step { return fake.Exit(status) }

// ReadRecord reads the file that a Record step has written.
func ReadRecord(path string) (fake.Record, error) { return fake.ReadRecord(path) }

// NoLeaks fails the test if the process has more goroutines, open descriptors or children at the end of the test than
// now. It waits up to ten seconds for them to end. The counts are those of the whole process, so the test must not run
// in parallel with others. NoLeaks counts descriptors and children only on Linux.
func NoLeaks(t TB) {
	t.Helper()
	fake.NoLeaks(t)
}

// Survivors lists the live processes that have token as one of their arguments, such as the path of a fake. On Windows,
// it lists the processes that run the program with that path. Elsewhere, the list is empty on systems without /proc.
func Survivors(token string) []Survivor { return fake.Survivors(token) }

// Busy keeps all processors busy until the test ends, to test a program on a machine under load.
func Busy(t TB) {
	t.Helper()
	fake.Busy(t)
}
