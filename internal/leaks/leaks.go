// Package leaks finds goroutines, open descriptors and children that tests leave behind.
package leaks

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
)

// TB is the part of [testing.TB] that this package needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// Attribution finds the goroutines of one of several tests that run in parallel.
type Attribution interface {
	// Begin names this goroutine and those that it starts; an empty name removes the name of this goroutine.
	Begin(name string)
	// Stacks returns the goroutines with the name, or nil. An empty name stands for all.
	Stacks(name string) []byte
}

// attribution is nil unless tests can run in parallel: the counts of the process are then those of one test.
var attribution Attribution

// Attribute makes Check use a. Do not call it during a test.
func Attribute(a Attribution) { attribution = a }

// checks numbers the calls of Check. Several can belong to one test.
var checks atomic.Uint64

// Check fails the test if this process has more goroutines, open descriptors or children at the end of the test than
// now, and still has them after wait. Descriptors and children are counted only on Linux.
//
// The counts are those of the whole process. If tests run in parallel, [Attribute] sets how Check finds the goroutines
// of the test, and Check counts neither descriptors nor children.
func Check(t TB, wait time.Duration) {
	t.Helper()
	WarmUp()
	before := Count()
	if attribution != nil {
		checkOwn(t, before, wait)
		return
	}
	t.Cleanup(func() {
		t.Helper()
		if after := before.Wait(wait); !after.Within(before) {
			t.Errorf("clitest: leak: before %+v, now %+v\n%s", before, after, Evidence(before, after))
		}
	})
}

// checkOwn is Check for a test among parallel tests.
func checkOwn(t TB, before Counts, wait time.Duration) {
	t.Helper()
	name := nameOf(t) + "#" + strconv.FormatUint(checks.Add(1), 10)
	attribution.Begin(name)
	t.Cleanup(func() {
		t.Helper()
		attribution.Begin("") // the goroutine of the test is no leak
		if left := waitForGoroutines(name, before, wait); left != nil {
			t.Errorf("clitest: leak: goroutines of this test\n%s", left)
		}
	})
}

func nameOf(t TB) string {
	if named, ok := t.(interface{ Name() string }); ok {
		return named.Name()
	}
	return "test"
}

// waitForGoroutines returns the goroutines with the name that remain. One may have replaced a permanent goroutine, such
// as one that waits for a permanent process: the number of goroutines has not grown then.
func waitForGoroutines(name string, before Counts, wait time.Duration) []byte {
	for end := time.Now().Add(wait); ; time.Sleep(2 * time.Millisecond) {
		left := attribution.Stacks(name)
		switch {
		case left == nil, runtime.NumGoroutine() <= before.Goroutines:
			return nil
		case time.Now().After(end):
			return left
		}
	}
}
