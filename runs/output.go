package runs

import "github.com/clichain/clichain/internal/proc"

// Output is the output of a CLI and its exit, without the secrets of its environment. It is the result of
// Provider.Probe.
type Output struct {
	Stdout, Stderr string
	// ExitCode is the exit code, or -1 if a signal ended the process.
	ExitCode int
	// Signal is the signal that ended the process. Empty means that the process exited.
	Signal string
}

// ShimMain must be called first in main, and in TestMain, of a program that uses Config.Shim. In a process that
// was started as a shim it never returns. Otherwise it returns immediately and reports whether Config.Shim
// works for this process. Config.Shim does not work in a set-uid program, on systems other than Linux, or if
// /proc is not fully available.
func ShimMain() (works bool) { return proc.ShimMain() }
