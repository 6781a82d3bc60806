//go:build unix

package clitest

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// canSettle says that children can inherit a descriptor to tell when they are ready.
const canSettle = true

var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "ABRT": syscall.SIGABRT,
	"KILL": syscall.SIGKILL, "SEGV": syscall.SIGSEGV, "PIPE": syscall.SIGPIPE, "TERM": syscall.SIGTERM,
	"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
}

func (p *player) doSignal(s Step) error {
	for _, name := range s.Ignore {
		sig, ok := signals[name]
		if !ok {
			return fmt.Errorf("unknown signal %q", name)
		}
		signal.Ignore(sig)
	}
	for name, status := range s.ExitOn {
		sig, ok := signals[name]
		if !ok {
			return fmt.Errorf("unknown signal %q", name)
		}
		exitOn(sig, status)
	}
	if s.Kill == "" {
		return nil
	}
	sig, ok := signals[s.Kill]
	if !ok {
		return fmt.Errorf("unknown signal %q", s.Kill)
	}
	p.settle()
	return syscall.Kill(os.Getpid(), sig)
}

func sysAttr(s Spawn) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: s.Setsid, Setpgid: s.Setpgid && !s.Setsid}
}

func closeOnExec(fd int) { syscall.CloseOnExec(fd) }

func getpgrp() int { return syscall.Getpgrp() }
