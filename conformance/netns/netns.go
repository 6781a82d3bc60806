// Package netns runs a test binary in a network namespace that has nothing but loopback, so that a program under test
// can reach no network. TestMain calls Main, and each test that starts such a program calls Require. It must never
// know which program that is, and needs no other program itself.
package netns

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// marker tells the re-executed test binary that it is the inner one.
const marker = "CLICHAIN_NETNS"

// errOutside is why Require skips in a binary whose TestMain does not call Main.
var errOutside = errors.New("the test binary does not run in its own network namespace: call netns.Main in TestMain")

// reason is why this process is not isolated, or nil. Main sets it before any test runs.
var reason = errOutside

// TB is the part of testing.TB that Require needs.
type TB interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Runner is what *testing.M is.
type Runner interface{ Run() int }

// Main runs the tests in a new network namespace and returns the exit status for os.Exit. Where the kernel allows no
// namespace it runs the tests where they are: those that call Require skip and say why.
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

// Required reports whether a skip is a failure, so that a green run proves that the real CLIs have run.
func Required() bool { return os.Getenv(Variable) == "required" || Long() }

// Long reports whether those tests run too without which the others take an eighth of the time.
func Long() bool { return os.Getenv(Variable) == "long" }

// RequireLong skips the test unless Long.
func RequireLong(tb TB) {
	tb.Helper()
	if !Long() {
		tb.Skipf("only with %s=long", Variable)
	}
}

// Require skips the test unless this process can reach loopback and nothing else.
func Require(tb TB) {
	tb.Helper()
	if reason != nil && Required() {
		tb.Fatalf("no isolated network: %v", reason)
	}
	if reason != nil {
		tb.Skipf("no isolated network: %v", reason)
	}
}

// enter brings loopback up and checks that no other interface is.
func enter() error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("bring up loopback: %w", err)
	}
	return LoopbackOnly()
}

// LoopbackOnly returns an error that names a network interface that is up and is not loopback, if there is one.
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
