//go:build unix

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

var softSignals = map[softSignal]syscall.Signal{interrupt: unix.SIGINT, terminate: unix.SIGTERM}

// askGroup sends a polite signal to a process group, and wakes it up if it is stopped: it would not notice otherwise.
// Errors do not matter: what does not hear will be killed.
func askGroup(group int, s softSignal) {
	_ = unix.Kill(-group, softSignals[s])
	_ = unix.Kill(-group, unix.SIGCONT)
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String() // real-time signals have no names
}
