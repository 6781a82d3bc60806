//go:build unix

package proc_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/clichain/clichain/internal/proc"
)

// hostVariable makes the test binary a host that runs the named program and does nothing else.
const hostVariable = "PROC_TEST_HOST"

// hostShimVariable makes the host use a shim.
const hostShimVariable = "PROC_TEST_HOST_SHIM"

// beHost runs the program in hostVariable, if there is one, and exits with its status.
func beHost() {
	path := os.Getenv(hostVariable)
	if path == "" {
		return
	}
	result, err := proc.Run(hostContext(), proc.Command{
		Path: path, Env: os.Environ(), Stdout: os.Stdout, Grace: 100 * time.Millisecond,
		Shim: os.Getenv(hostShimVariable) != "",
	})
	fmt.Printf("exit %d signal %q soft %q cause %v error %v\n", result.ExitCode, result.Signal, result.SoftSignal, result.Cause, err)
	syscall.Exit(0)
}

// hostContext is done when the host gets SIGUSR1.
func hostContext() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGUSR1) // until the process ends
	return ctx
}
