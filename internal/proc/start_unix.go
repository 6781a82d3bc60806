//go:build unix

package proc

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/clichain/clichain/internal/landlock"
	"golang.org/x/sys/unix"
)

// directly returns the attributes for starting the program as the leader of a new session. A new group is not
// enough: in the session of a host with a terminal, a program that asks for a password would be stopped instead
// of failing.
func directly(c Command, cookie string, files []*os.File) *os.ProcAttr {
	return &os.ProcAttr{
		Dir:   c.Dir,
		Env:   markEnv(c.Env, c.Dir, cookie),
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
}

// startProcess starts a program, which is confined unless rules is nil. It retries for up to 190 ms while the program's
// file is open for writing.
func startProcess(path string, args []string, attr *os.ProcAttr, rules []landlock.Rule) (*os.Process, error) {
	for try := time.Duration(1); ; try++ {
		p, err := startOnce(path, args, attr, rules)
		if !errors.Is(err, syscall.ETXTBSY) || try == 20 {
			return p, err
		}
		// A child that forked while the file was open for writing has not called exec yet.
		time.Sleep(try * time.Millisecond)
	}
}

func startOnce(path string, args []string, attr *os.ProcAttr, rules []landlock.Rule) (*os.Process, error) {
	if rules == nil {
		return os.StartProcess(path, args, attr)
	}
	return landlock.Start(path, args, attr, rules, guard.fileLimit())
}

// reapProcess returns the status of a process that has exited.
func reapProcess(p *os.Process) status {
	state, err := p.Wait()
	if err != nil {
		_ = p.Release() // frees memory only
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

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String() // real-time signals have no names
}
