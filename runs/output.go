package runs

import "github.com/clichain/clichain/internal/proc"

// Output is what a CLI printed about itself, without the secrets of its
// environment, and how it ended: the result of
// Provider.Probe.
type Output struct {
	Stdout, Stderr string
	// ExitCode is its exit status, -1 when Signal ended it.
	ExitCode int
	// Signal that ended it. Empty: it exited.
	Signal string
}

// ShimMain must be called first in main, and in TestMain, of a program that
// uses Config.Shim. In a process that was started as a shim it never returns;
// otherwise it returns at once and reports whether Config.Shim works here. It
// does not in a set-uid program, on systems other than Linux, and where /proc
// lacks what a shim needs.
func ShimMain() (works bool) { return proc.ShimMain() }
