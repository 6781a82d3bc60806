//go:build unix

package fake

import (
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// canSettle reports whether children can inherit a descriptor on which they signal that they are ready.
const canSettle = true

var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "ABRT": syscall.SIGABRT,
	"KILL": syscall.SIGKILL, "SEGV": syscall.SIGSEGV, "PIPE": syscall.SIGPIPE, "TERM": syscall.SIGTERM,
	"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
}

func (p *player) doSignal(s Step) error {
	names := slices.AppendSeq(slices.Clone(s.Ignore), maps.Keys(s.ExitOn))
	if s.Kill != "" {
		names = append(names, s.Kill)
	}
	for _, name := range names {
		if signals[name] == 0 {
			return fmt.Errorf("unknown signal %q", name)
		}
	}
	for _, name := range s.Ignore {
		signal.Ignore(signals[name])
	}
	for name, status := range s.ExitOn {
		exitOn(signals[name], status)
	}
	if s.Kill == "" {
		return nil
	}
	p.settle()
	return syscall.Kill(os.Getpid(), signals[s.Kill])
}

// exeSuffix is the suffix of the names of programs.
const exeSuffix = ""

// place makes path a link to the program exe.
func place(exe, path string) error { return os.Symlink(exe, path) }

// isCopy is false, because a fake is a link.
func isCopy(string) bool { return false }

func sysAttr(s Spawn) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: s.Setsid, Setpgid: s.Setpgid && !s.Setsid}
}

func closeOnExec(fd int) { syscall.CloseOnExec(fd) }

func getpgrp() int { return syscall.Getpgrp() }
