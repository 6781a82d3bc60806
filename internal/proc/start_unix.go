//go:build unix

package proc

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// directly says how to start the program as the leader of a session of its own. Not just of a group: in the session of a
// host with a terminal, a program that asks for a password would be stopped instead of failing.
func directly(c Command, cookie string, files []*os.File) *os.ProcAttr {
	return &os.ProcAttr{
		Dir:   c.Dir,
		Env:   markEnv(c.Env, c.Dir, cookie),
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
}

// startProcess is os.StartProcess that is patient with programs being written.
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
