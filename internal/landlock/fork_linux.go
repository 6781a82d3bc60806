//go:build amd64 || arm64

package landlock

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A confined program restricts itself between fork and exec. A thread of this process could restrict itself and
// start the program. It would then share the domain of the program until it ends, and the program could read the
// memory of this process through it. Package os has no hook between fork and exec, so this file forks as package
// syscall does. ADR 0040 compares the ways.

// runtime_BeforeFork and the other hooks of package runtime may be used by other packages; their signatures are stable
// (golang.org/issue/67401).
//
//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// vfork creates a child that shares the memory of this process, and returns in this process when the child has called
// exec or has exited.
//
//go:noescape
func vfork() (pid uintptr, errno syscall.Errno)

// child is what a child does between fork and exec. A child must not allocate, lock or grow its stack, so everything is
// prepared.
type child struct {
	ruleset uintptr
	group   uintptr // the file cgroup.procs to write to, or noFile
	limit   *unix.Rlimit
	dir     *byte
	path    *byte // nil: exit after the restriction
	args    []*byte
	env     []*byte
	files   []uintptr // to become the descriptors from 0 onward; each is higher than that
	// The child sets these. They tell nothing if errno is 0.
	step  step
	errno syscall.Errno
}

const noFile = ^uintptr(0)

// step is what a child does.
type step uintptr

const (
	stepSession step = iota
	stepGroup
	stepFiles
	stepDir
	stepConfine
	stepExec
)

var zeroDigit = [1]byte{'0'}

// run forks. In the child it returns only after an error, and exits.
//
//go:noinline
//go:norace
//go:nocheckptr
func (c *child) run() (pid uintptr, errno syscall.Errno) {
	var i int
	beforeFork()
	pid, errno = vfork()
	if errno != 0 || pid != 0 {
		return pid, errno // at once: the child has used this frame
	}
	afterForkInChild()
	c.step = stepSession
	if _, _, errno = syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0); errno != 0 {
		goto failed
	}
	c.step = stepGroup
	if c.group != noFile {
		_, _, errno = syscall.RawSyscall(syscall.SYS_WRITE, c.group, uintptr(unsafe.Pointer(&zeroDigit)), 1)
		if errno != 0 {
			goto failed
		}
	}
	c.step = stepFiles
	for i = range c.files {
		if _, _, errno = syscall.RawSyscall(syscall.SYS_DUP3, c.files[i], uintptr(i), 0); errno != 0 {
			goto failed
		}
	}
	if c.limit != nil { // a program that ignores it works, so an error does not matter
		_, _, _ = syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(c.limit)), 0, 0, 0)
	}
	c.step = stepDir
	if c.dir != nil {
		if _, _, errno = syscall.RawSyscall(syscall.SYS_CHDIR, uintptr(unsafe.Pointer(c.dir)), 0, 0); errno != 0 {
			goto failed
		}
	}
	c.step = stepConfine
	_, _, errno = syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
	if errno != 0 {
		goto failed
	}
	if _, _, errno = syscall.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, c.ruleset, 0, 0); errno != 0 {
		goto failed
	}
	c.step = stepExec
	if c.path != nil {
		_, _, errno = syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(c.path)),
			uintptr(unsafe.Pointer(&c.args[0])), uintptr(unsafe.Pointer(&c.env[0])))
	}
failed:
	c.errno = errno
	for {
		syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
	}
}
