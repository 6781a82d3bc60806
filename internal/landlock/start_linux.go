//go:build amd64 || arm64

package landlock

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Usable returns the version of Landlock that [Start] uses, or why this process cannot confine programs now. It tries a
// restriction in a child. An [UnsupportedError] is permanent. After any other error, such as a lack of descriptors or
// processes, the next call tries again.
func Usable() (version int, err error) {
	usable.Lock()
	defer usable.Unlock()
	if !usable.known {
		usable.version, usable.err = try()
		_, unsupported := errors.AsType[*UnsupportedError](usable.err)
		usable.known = usable.err == nil || unsupported
	}
	return usable.version, usable.err
}

// usable is the result of Usable. It is known unless the error was temporary.
var usable struct {
	sync.Mutex
	known   bool
	version int
	err     error
}

// try restricts a child.
func try() (version int, err error) {
	if version = Version(); version == 0 {
		return 0, &UnsupportedError{"this kernel has no Landlock, or it is blocked"}
	}
	rules, err := newRuleset(nil)
	if err != nil {
		return 0, unsupported(err)
	}
	defer rules.Close()
	c := child{ruleset: rules.Fd(), group: noFile}
	if _, err = c.start(); err != nil && c.step == stepConfine {
		err = unsupported(err)
	}
	return version, err
}

// blocked are the errors of a system that does not have a system call, or blocks it. Other errors are temporary, or
// concern only this process.
var blocked = []error{unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM, unix.EACCES}

// unsupported returns an [UnsupportedError] for an error of a system that blocks Landlock, and any other error itself.
func unsupported(err error) error {
	if slices.ContainsFunc(blocked, func(known error) bool { return errors.Is(err, known) }) {
		return &UnsupportedError{"the system blocks Landlock: " + err.Error()}
	}
	return err
}

// Start starts a program in a new session, as os.StartProcess does. The program and its descendants can only do what
// the rules grant. limit is the program's limit of open files; nil means that of this process. Of attr.Sys, Start uses
// only UseCgroupFD. The error is a [RefusedError] if the system refuses the restriction.
func Start(
	path string, args []string, attr *os.ProcAttr, rules []Rule, limit *unix.Rlimit,
) (_ *os.Process, err error) {
	ruleset, err := newRuleset(rules)
	if err != nil {
		return nil, &RefusedError{err}
	}
	defer ruleset.Close()
	c := child{ruleset: ruleset.Fd(), group: noFile, limit: limit}
	if attr.Sys.UseCgroupFD {
		group, err := unix.Openat(attr.Sys.CgroupFD, "cgroup.procs", unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, os.NewSyscallError("openat", err)
		}
		defer unix.Close(group)
		c.group = uintptr(group)
	}
	if err := c.prepare(path, args, attr); err != nil {
		return nil, err
	}
	files, err := above(attr.Files)
	if err != nil {
		return nil, err
	}
	for _, fd := range files {
		defer unix.Close(int(fd))
	}
	c.files = files
	pid, err := c.start()
	runtime.KeepAlive(attr.Files)
	switch {
	case err != nil && c.step == stepConfine:
		return nil, &RefusedError{err}
	case err != nil:
		return nil, &os.PathError{Op: "fork/exec", Path: path, Err: err}
	}
	return os.FindProcess(pid) // not reaped yet, so the id is valid
}

// prepare converts the strings for the system calls.
func (c *child) prepare(path string, args []string, attr *os.ProcAttr) (err error) {
	if c.path, err = unix.BytePtrFromString(path); err != nil {
		return err
	}
	if attr.Dir != "" {
		if c.dir, err = unix.BytePtrFromString(attr.Dir); err != nil {
			return err
		}
	}
	if c.args, err = syscall.SlicePtrFromStrings(args); err != nil {
		return err
	}
	c.env, err = syscall.SlicePtrFromStrings(attr.Env)
	return err
}

// above duplicates the files to descriptors that are higher than those that they get in the child.
func above(files []*os.File) (fds []uintptr, err error) {
	for _, file := range files {
		fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, len(files))
		if err != nil {
			for _, fd := range fds {
				_ = unix.Close(int(fd)) // a duplicate
			}
			return nil, os.NewSyscallError("fcntl", err)
		}
		fds = append(fds, uintptr(fd))
	}
	return fds, nil
}

// start forks, and returns when the child runs the program. If the child fails, start reaps it.
func (c *child) start() (pid int, err error) {
	syscall.ForkLock.Lock()
	forked, errno := c.run()
	afterFork()
	syscall.ForkLock.Unlock()
	pid = int(forked)
	switch {
	case errno != 0:
		return 0, fmt.Errorf("fork: %w", errno)
	case c.errno == 0 && c.path != nil:
		return pid, nil
	}
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	if c.errno != 0 {
		return 0, c.errno
	}
	return 0, nil
}
