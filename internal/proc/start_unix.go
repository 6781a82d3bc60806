//go:build unix

package proc

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// directly returns how to start the program as the leader of a session of its own. A group would not be enough: in the
// session of a host with a terminal, a program that asks for a password would be stopped instead of failing.
func directly(c Command, cookie string, files []*os.File) *os.ProcAttr {
	return &os.ProcAttr{
		Dir:   c.Dir,
		Env:   markEnv(c.Env, c.Dir, cookie),
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
}

// startProcess is os.StartProcess that retries for up to 190 ms while the program's file is open for writing.
func startProcess(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	for try := time.Duration(1); ; try++ {
		p, err := os.StartProcess(path, args, attr)
		if !errors.Is(err, syscall.ETXTBSY) || try == 20 {
			return p, err
		}
		// Somebody forked while the file was open for writing, and that child has not called exec yet.
		time.Sleep(try * time.Millisecond)
	}
}

// reapProcess takes the exit status of a process that has exited.
func reapProcess(p *os.Process) status {
	state, err := p.Wait()
	if err != nil {
		_ = p.Release() // there is nothing to release but memory
		return status{code: -1, lost: true}
	}
	return statusOf(state.Sys().(syscall.WaitStatus))
}

func statusOf(wait syscall.WaitStatus) status {
	if wait.Signaled() {
		return status{code: -1, signal: signalName(wait.Signal())}
	}
	return status{code: wait.ExitStatus()}
}

var softSignals = map[softSignal]syscall.Signal{interrupt: unix.SIGINT, terminate: unix.SIGTERM}

// askGroup sends a polite signal to a process group, and continues it, because a stopped process would not handle the
// signal. Errors are ignored: processes that do not end are killed.
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
