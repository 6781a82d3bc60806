// Package chaintest has what the tests of chains and backends share. The packages below it contain these tests, in
// groups that run side by side, although some of them change environment variables.
package chaintest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/leaks/parallel"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/runs"
)

// Main runs the tests of a package, or the fake CLI that the test binary plays. roles are other programs that it plays;
// a role returns if the process does not have it.
func Main(m *testing.M, roles ...func()) {
	runs.ShimMain()
	for _, role := range roles {
		role()
	}
	clitest.Main()
	WarmUp()
	parallel.Default(24) // most of these tests wait, and need no processor for it
	for _, variable := range Suppressors {
		_ = os.Setenv(variable, "") // the name is valid
	}
	os.Exit(clitest.Run(parallel.Tests(m)))
}

// WarmUp runs a program once, so that permanent processes of a first run, such as the watchdog, do not count as a
// leak of the first test.
func WarmUp() {
	program, err := exec.LookPath("true")
	if err == nil {
		_, err = proc.Run(context.Background(), proc.Command{Path: program})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "warm-up:", err)
		os.Exit(1)
	}
}
