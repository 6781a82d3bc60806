package clichain_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/runs"
)

// TestMain lets the test binary play the fake CLIs that tests start.
func TestMain(m *testing.M) {
	runs.ShimMain()
	playContainer()
	playStore()
	playTurn()
	clitest.Main()
	stayOutside()
	warmUp()
	_ = flag.Set("test.parallel", "8") // unless set: most of these tests wait, and need no processor for it
	os.Exit(clitest.Run(m))
}

// warmUp runs a program once, so that permanent processes of a first run, such as the watchdog, do not count as a
// leak of the first test.
func warmUp() {
	program, err := exec.LookPath("true")
	if err == nil {
		_, err = proc.Run(context.Background(), proc.Command{Path: program})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "warm-up:", err)
		os.Exit(1)
	}
}
