// Package testtime scales the time limits of tests with the speed of the machine, so that a slow or busy machine does
// not decide whether a test passes. A limit grows tenfold at most. The limit that a test states must suffice on an idle
// machine, also with the race detector. The package does not work in a synctest bubble, whose clock is not that of the
// machine.
package testtime

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

const (
	// idle is the time of child on an idle machine: the shortest of 50 on a core of a Xeon at 2.5 GHz, with dash, on
	// 2026-11-28. It was not measured on macOS and Windows.
	idle = 25 * time.Millisecond

	starts    = 3  // Factor takes the slowest of so many children, because a child may run beside the load unhindered.
	maxFactor = 10 // A longer time means a mistake of the code, not a slow machine.
)

// T is the part of testing.TB that this package needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Within reports an error if more than limit times Factor has passed since start. It measures the factor only if more
// than limit has passed. why is part of the message. The test continues, so any goroutine may call Within.
func Within(t T, start time.Time, limit time.Duration, why ...string) {
	t.Helper()
	Took(t, time.Since(start), limit, why...)
}

// Took is Within for a time that was measured before.
func Took(t T, took, limit time.Duration, why ...string) {
	t.Helper()
	check(t, took, limit, Factor, why)
}

// Bound returns limit times Factor, for a limit that must be set before the work begins.
func Bound(limit time.Duration) time.Duration {
	return scaled(limit, Factor())
}

// Factor measures how much slower this machine is at present than an idle one: from 1 to 10. It is the time that a
// child process needs to start, count and end, divided by the time on an idle machine. It is 10 if no child can be
// started.
func Factor() float64 {
	return factorOf(func() (time.Duration, error) {
		start := time.Now()
		err := child().Run()
		return time.Since(start), err
	})
}

// child does so much that a busy machine interrupts it. The start of a program that ends at once took no longer beside
// four busy loops, because the kernel prefers new processes.
func child() *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.Command("cmd", "/d", "/c", "for /l %i in (1,1,10000) do @rem")
	}
	return exec.Command("/bin/sh", "-c", "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done")
}

func factorOf(measure func() (time.Duration, error)) float64 {
	slowest := idle
	for range starts {
		took, err := measure()
		if err != nil {
			return maxFactor
		}
		slowest = max(slowest, took)
	}
	return min(float64(slowest)/float64(idle), maxFactor)
}

func scaled(limit time.Duration, factor float64) time.Duration {
	return time.Duration(float64(limit) * factor)
}

func check(t T, took, limit time.Duration, factor func() float64, why []string) {
	t.Helper()
	if took <= limit {
		return
	}
	now := factor()
	if took <= scaled(limit, now) {
		return
	}
	message := fmt.Sprintf("took %v, more than %v times the measured factor %.1f", took, limit, now)
	t.Errorf("%s", strings.Join(append([]string{message}, why...), ": "))
}
