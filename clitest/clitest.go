// Package clitest tests specs, and programs that use clichain, without a CLI, an account or a network.
//
// [TestSpec] puts a spec through all that can be told of it without its CLI. [Answer], [LoggedOut], [LimitUntil] and
// the other scenarios are what users meet, in a CLI's own words, for a fake that stands in for it:
//
//	func TestMain(m *testing.M) {
//		clitest.Main()
//		os.Exit(m.Run())
//	}
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
// A [Recorder] is a fake that tells what it [Received]. Scenarios are data, made of [Step]: where none of those here
// fits, write one. The names below that only pass on what package fake has are explained there.
package clitest

import (
	"github.com/clichain/clichain/clitest/fake"
)

// The parts of a scenario, and what a fake records and leaves; see package fake.
type (
	Scenario = fake.Scenario // what a fake does
	Case     = fake.Case     // one alternative of a scenario
	Step     = fake.Step     // one action of a fake
	Spawn    = fake.Spawn    // children of a fake
	Record   = fake.Record   // all that a Record step has seen; see Received for a shorter form
	Survivor = fake.Survivor // a process of a fake that is still running
	TB       = fake.TB       // what this package needs of a testing.TB
)

// Main plays the scenario if this process was started as a fake, and then never returns. Otherwise it returns at once.
// Call it first in TestMain, or in main of a program that installs fakes.
func Main() { fake.Main() }

// Fake installs the fake in a temporary directory of the test, and returns its absolute path. It ends the test if that
// fails. Processes of the fake that outlive the test are killed.
func Fake(t TB, name string, s Scenario) string {
	t.Helper()
	return fake.New(t, name, s)
}

// Install creates the fake dir/name that plays s, and returns its absolute path. A fake of that name that is already
// there is replaced. Link and scenario must stay until the fake has started. It is an error if [Main] was not called.
func Install(dir, name string, s Scenario) (string, error) { return fake.Install(dir, name, s) }

// Exit is the step that ends the fake with the given status.
func Exit(status int) Step { return fake.Exit(status) }

// ReadRecord reads the file that a Record step has written.
func ReadRecord(path string) (Record, error) { return fake.ReadRecord(path) }

// NoLeaks makes the test fail if, at its end, the process has more goroutines, open descriptors or children than now.
// It waits up to ten seconds for them to go. The counts are those of the whole process, so the test must not run in
// parallel with others. Descriptors and children are counted on Linux only.
func NoLeaks(t TB) {
	t.Helper()
	fake.NoLeaks(t)
}

// Survivors lists the live processes that have token, such as the path of a fake, as one of their arguments. It needs
// /proc; without it the list is empty.
func Survivors(token string) []Survivor { return fake.Survivors(token) }

// Busy keeps all processors at work until the test ends, so that a test sees what a program does on a machine under
// load.
func Busy(t TB) {
	t.Helper()
	fake.Busy(t)
}
