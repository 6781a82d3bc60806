//go:build linux

package proc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// These environment variables make the test binary a host that runs one program and does nothing else.
const (
	hostVariable      = "PROC_TEST_HOST"       // the arguments in JSON; the host's own arguments must not look like them
	hostShimVariable  = "PROC_TEST_HOST_SHIM"  // use a shim
	hostCountVariable = "PROC_TEST_HOST_COUNT" // number of concurrent runs
	hostUserVariable  = "PROC_TEST_HOST_USER"  // user of the host
	hostReapVariable  = "PROC_TEST_HOST_REAP"  // the host adopts orphans
)

// beHost runs the program and exits, if this process is a host.
func beHost() {
	printDepth()
	beConfinedHost()
	var program []string
	if json.Unmarshal([]byte(os.Getenv(hostVariable)), &program) != nil {
		return
	}
	if os.Getenv(namespaceVariable) != "" {
		seeNamespace()
	}
	if user, err := strconv.Atoi(os.Getenv(hostUserVariable)); err == nil {
		if err := syscall.Setuid(user); err != nil {
			fmt.Println(err)
		}
	}
	if os.Getenv(hostReapVariable) != "" {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			fmt.Println(err)
		}
	}
	if count, err := strconv.Atoi(os.Getenv(hostCountVariable)); err == nil {
		runMany(program[0], count)
		syscall.Exit(0)
	}
	r, err := proc.Run(hostContext(), proc.Command{
		Path: program[0], Args: program, Env: os.Environ(), Stdout: os.Stdout, Grace: 100 * time.Millisecond, Teardown: time.Minute,
		Shim: os.Getenv(hostShimVariable) != "",
	})
	fmt.Printf("exit %d signal %q soft %q cause %v clean %v leftovers %d error %v children %d\n",
		r.ExitCode, r.Signal, r.SoftSignal, r.Cause, r.TreeClean, r.Leftovers, err, len(children()))
	syscall.Exit(0)
}

// hostContext is done when the host gets SIGUSR1.
func hostContext() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGUSR1) // until the process ends
	return ctx
}

// hostCommand returns a command for a host that runs the program.
func hostCommand(t *testing.T, program ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	arguments, err := json.Marshal(program)
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), hostVariable+"="+string(arguments))
	cmd.Stderr = os.Stderr
	return cmd
}
