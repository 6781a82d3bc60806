// Package netns runs a test binary in a network namespace that has only loopback, so that a program under test can
// reach no network. TestMain calls Main, and each test that starts such a program calls Require. The package must
// never know which program that is, and needs no other program.
package netns

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// marker is set in the environment of the re-executed test binary.
const marker = "CLICHAIN_NETNS"

// errOutside is the reason why Require skips in a binary whose TestMain does not call Main.
var errOutside = errors.New("the test binary does not run in its own network namespace: call netns.Main in TestMain")

// reason says why this process is not isolated. It is nil if it is. Main sets it before any test runs.
var reason = errOutside

// TB is the part of testing.TB that Require needs.
type TB interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Runner is the part of *testing.M that Main needs.
type Runner interface{ Run() int }

// Main runs the tests in a new network namespace and returns the exit code for os.Exit. If the kernel does not allow
// a namespace, it runs the tests without one. Tests that call Require then skip and report the reason.
func Main(m Runner) int {
	if os.Getenv(marker) != "" {
		reason = enter()
		return m.Run()
	}
	status, err := reexecute()
	if err != nil {
		reason = err
		return m.Run()
	}
	return status
}

// Variable is the environment variable that turns skips into failures when it is "required" or "long".
const Variable = "CLICHAIN_CONFORMANCE"

// Required reports whether a skip is a failure, so that a passing run proves that the real CLIs have run.
func Required() bool { return os.Getenv(Variable) == "required" || Long() }

// Long reports whether the long tests run too. Without them the suite takes an eighth of the time.
func Long() bool { return os.Getenv(Variable) == "long" }

// RequireLong skips the test unless Long is true.
func RequireLong(tb TB) {
	tb.Helper()
	if !Long() {
		tb.Skipf("only with %s=long", Variable)
	}
}

// Require skips the test unless this process can reach only loopback.
func Require(tb TB) {
	tb.Helper()
	if reason != nil && Required() {
		tb.Fatalf("no isolated network: %v", reason)
	}
	if reason != nil {
		tb.Skipf("no isolated network: %v", reason)
	}
}

// enter brings loopback up and checks that no other interface is up.
func enter() error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("bring up loopback: %w", err)
	}
	return LoopbackOnly()
}

// LoopbackOnly returns an error that names an interface other than loopback that is up, if there is one.
func LoopbackOnly() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list network interfaces: %w", err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return fmt.Errorf("network interface %s is up", i.Name)
		}
	}
	return nil
}
