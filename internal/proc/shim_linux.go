package proc

import (
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// shimName is the only argument of a shim.
const shimName = "clichain-shim"

// The descriptors of a shim after the standard three, which are those of its program.
const (
	shimLife    = 3 // the order is read from it; its end means that the host has ended or wants the run ended
	shimReports = 4 // the reports are written to it
)

type shimOrder struct {
	Path     string
	Args     []string
	Env      []string
	Dir      string
	Teardown time.Duration
}

// shimReport is sent by a shim when it has started the program, and again when every process has ended.
type shimReport struct {
	Pid       int           // of the program, 0 if it could not be started
	Errno     syscall.Errno // why not
	Wait      syscall.WaitStatus
	Leftovers int
	Clean     bool
}

// shimInstalled is set once the host has called ShimMain, and not set-uid: otherwise a shim would run the host's main.
var shimInstalled atomic.Bool

// ShimMain must be called first in main, or TestMain, of a program that uses Command.Shim. If this process was started
// as a shim it never returns; otherwise it returns at once and reports whether Command.Shim works here. A set-uid or
// set-gid program is no shim: it exits with status 126 if it was started as one.
func ShimMain() (works bool) {
	owner := credentials{uid: os.Getuid(), euid: os.Geteuid(), gid: os.Getgid(), egid: os.Getegid()}
	switch roleOf(os.Args, owner) {
	case roleHost:
		shimInstalled.Store(true)
		return canShim("/proc/self/exe", "/proc/thread-self/children")
	case roleRefused:
		_, _ = os.Stderr.WriteString(refusal)
		syscall.Exit(refusedStatus)
	case roleShim:
		beShim()
	}
	return false
}

// canShim reports whether the system lets a shim do its work: the program that it is can be started, it may adopt what
// loses its parent, and the kernel lists its children.
func canShim(program, children string) bool {
	_, adopts := subreaper()
	list, err := os.Open(children)
	if err != nil || !adopts {
		return false
	}
	_ = list.Close() // it was not written to
	return unix.Access(program, unix.X_OK) == nil
}

// credentials are the real and effective user and group of a process.
type credentials struct{ uid, euid, gid, egid int }

// role is what ShimMain does in a process.
type role int

const (
	roleBystander role = iota // nothing: its shims would refuse
	roleHost                  // lets Command.Shim be used
	roleShim                  // is a shim
	roleRefused               // ends
)

// roleOf tells a process its role. A shim runs whatever program its descriptor 3 names, and anybody may start one: with
// the rights of a set-uid program that would be a gift of those rights.
func roleOf(args []string, owner credentials) role {
	asked, raised := len(args) == 1 && args[0] == shimName, owner.uid != owner.euid || owner.gid != owner.egid
	switch {
	case asked && raised:
		return roleRefused
	case asked:
		return roleShim
	case raised:
		return roleBystander
	}
	return roleHost
}

const (
	refusal       = shimName + ": refusing to run set-uid or set-gid\n"
	refusedStatus = 126 // what shells call found, but not run
)

// beShim is the main of a shim.
func beShim() {
	runtime.LockOSThread() // the program dies with the thread that starts it
	s := shim{left: map[int]bool{}, report: json.NewEncoder(os.NewFile(shimReports, "reports"))}
	if err := s.run(); err != nil {
		syscall.Exit(1) // the host notices the missing report
	}
	syscall.Exit(0)
}

// shim is the process between host and program. It has one goroutine but for the one that waits for the host's end.
type shim struct {
	report  *json.Encoder
	program int // process id
	exited  bool
	wait    syscall.WaitStatus
	left    map[int]bool // processes that were killed after the program's end
}

func (s *shim) run() error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGCHLD, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	closeOthers()
	life := os.NewFile(shimLife, "life")
	var order shimOrder
	decoder := json.NewDecoder(life)
	if err := decoder.Decode(&order); err != nil {
		return err
	}
	if err := s.start(order); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		_ = decoder.Decode(new(any)) // there is nothing more to come but the end
		close(gone)
	}()
	s.attend(signals, gone)
	return s.teardown(signals, time.Now().Add(order.Teardown))
}

// closeOthers keeps descriptors that the host was started with from the program.
func closeOthers() {
	if unix.CloseRange(3, 1<<31, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	names, _ := filepath.Glob("/proc/self/fd/*") // kernels before 5.11
	for _, name := range names {
		if fd, ok := number([]byte(filepath.Base(name))); ok && fd > 2 {
			unix.CloseOnExec(int(fd))
		}
	}
}

// start starts the program and gives up the descriptors that are the program's.
func (s *shim) start(order shimOrder) error {
	process, err := startProcess(order.Path, order.Args, &os.ProcAttr{
		Dir:   order.Dir,
		Env:   order.Env,
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL},
	})
	if err != nil {
		errno, _ := errors.AsType[syscall.Errno](err)
		return errors.Join(err, s.report.Encode(shimReport{Errno: errno}))
	}
	s.program = process.Pid
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := 0; err == nil && fd < 3; fd++ {
		err = unix.Dup3(null, fd, unix.O_CLOEXEC)
	}
	return errors.Join(err, s.report.Encode(shimReport{Pid: s.program}))
}

// attend forwards signals until the program has ended or the host is gone.
func (s *shim) attend(signals <-chan os.Signal, gone <-chan struct{}) {
	for !s.exited {
		select {
		case <-gone:
			return
		case sig := <-signals:
			if sig != unix.SIGCHLD {
				_ = unix.Kill(-s.program, sig.(syscall.Signal)) // it has not been reaped
				_ = unix.Kill(-s.program, unix.SIGCONT)
			}
		}
		s.reap()
	}
}

// teardown kills until the kernel says that there is no child left. Every descendant whose parent ends becomes a child
// of the shim, so no scan is needed, and forking fast does not help to escape.
func (s *shim) teardown(signals <-chan os.Signal, deadline time.Time) error {
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, maxPause) {
		s.killChildren()
		if none := s.reap(); none || time.Now().After(deadline) {
			return s.report.Encode(shimReport{Pid: s.program, Wait: s.wait, Leftovers: len(s.left), Clean: none})
		}
		select {
		case <-signals:
		case <-time.After(pause):
		}
	}
}

// killChildren kills all present children. None of them can have been reaped: only this goroutine does.
func (s *shim) killChildren() {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is well formed
	for _, list := range lists {
		pids, _ := os.ReadFile(list) // a thread may have ended
		for _, digits := range strings.Fields(string(pids)) {
			pid, _ := number([]byte(digits))
			now, err := system.stat(int(pid))
			if err != nil || !now.alive() {
				continue
			}
			if int(pid) != s.program {
				s.left[int(pid)] = true
			}
			_ = unix.Kill(int(pid), unix.SIGKILL) // another user's will outlast the deadline
		}
	}
}

// reap reaps all children that have ended and reports whether there is none left at all.
func (s *shim) reap() (none bool) {
	for {
		var wait syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &wait, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return true
		case pid == 0:
			return false
		case pid == s.program:
			s.exited, s.wait = true, wait
		}
	}
}
