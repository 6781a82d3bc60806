package fake

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// canSettle is false because Go passes no additional descriptors to children on Windows.
const canSettle = false

// doSignal plays the steps for signals. Windows has no signal except the interrupt of the console.
func (p *player) doSignal(s Step) error {
	if s.Kill == "KILL" {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Kill()
	}
	if s.Kill != "" {
		return errors.New("signal " + s.Kill + " does not exist on Windows")
	}
	if slices.Contains(s.Ignore, "INT") {
		signal.Ignore(os.Interrupt)
	}
	if status, ok := s.ExitOn["INT"]; ok {
		exitOn(os.Interrupt, status)
	}
	return nil
}

// exeSuffix is the suffix of the names of programs.
const exeSuffix = ".exe"

// place makes path a copy of the program exe, because links need a privilege.
func place(exe, path string) error {
	data, err := os.ReadFile(exe)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o700)
}

// isCopy reports whether the program exe is a fake.
func isCopy(exe string) bool {
	_, err := os.Stat(exe + sidecar)
	return err == nil
}

func sysAttr(s Spawn) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{}
	if s.Setsid || s.Setpgid {
		attr.CreationFlags = syscall.CREATE_NEW_PROCESS_GROUP
	}
	return attr
}

func closeOnExec(int) {}

func getpgrp() int { return 0 }
