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

// The descriptors of a shim after the three standard descriptors, which its program uses.
const (
	shimLife    = 3 // the shim reads its order from it; its end means that the host has ended or stops the run
	shimReports = 4 // the shim writes its reports to it
)

type shimOrder struct {
	Path     string
	Args     []string
	Env      []string
	Dir      string
	Teardown time.Duration
}

// shimReport is sent by a shim when it has started the program, and again when all processes have ended.
type shimReport struct {
	Pid       int           // of the program; 0 if it could not be started
	Errno     syscall.Errno // why the program could not be started
	Wait      syscall.WaitStatus
	Leftovers int
	Clean     bool
}

// shimInstalled is true after the host has called ShimMain and is not set-uid. Otherwise a shim would run the
// host's main.
var shimInstalled atomic.Bool

// ShimMain must be called first in main, or in TestMain, of a program that uses Command.Shim. In a process that
// was started as a shim it never returns. Otherwise it returns immediately and reports whether Command.Shim
// works for this process. A set-uid or set-gid program that was started as a shim exits with code 126.
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

// canShim reports whether the system supports a shim: the program of this process can be started again, the
// process can become a child subreaper, and the kernel lists its children.
func canShim(program, children string) bool {
	_, adopts := subreaper()
	list, err := os.Open(children)
	if err != nil || !adopts {
		return false
	}
	_ = list.Close() // opened for reading only
	return unix.Access(program, unix.X_OK) == nil
}

// credentials are the real and effective user and group of a process.
type credentials struct{ uid, euid, gid, egid int }

// role is what ShimMain does in a process.
type role int

const (
	roleBystander role = iota // does nothing: its shims would exit
	roleHost                  // may use Command.Shim
	roleShim                  // is a shim
	roleRefused               // exits
)

// roleOf returns the role of a process. A shim runs the program that its descriptor 3 names, and any user can
// start a shim, so a set-uid shim would give its privileges to any user.
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
	refusedStatus = 126 // as shells use it for a program that cannot be executed
)

// beShim is the main function of a shim.
func beShim() {
	runtime.LockOSThread() // the program dies with the thread that starts it
	s := shim{left: map[int]bool{}, report: json.NewEncoder(os.NewFile(shimReports, "reports"))}
	if err := s.run(); err != nil {
		syscall.Exit(1) // the host notices the missing report
	}
	syscall.Exit(0)
}

// shim is the process between the host and the program. It has one goroutine besides the one that waits for the
// end of the host.
type shim struct {
	report  *json.Encoder
	program int // process id
	exited  bool
	wait    syscall.WaitStatus
	left    map[int]bool // processes that were killed after the end of the program
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
	started := s.start(order)
	if s.program == 0 {
		return started
	}
	gone := make(chan struct{})
	go func() {
		_ = decoder.Decode(new(any)) // returns at the end of the stream
		close(gone)
	}()
	if started == nil { // after an error, such as the end of the host, the program may have children already
		s.attend(signals, gone)
	}
	return s.teardown(signals, time.Now().Add(order.Teardown))
}

// closeOthers marks the descriptors that the host was started with, so that the program does not inherit them.
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

// start starts the program and replaces the shim's standard descriptors, which belong to the program.
func (s *shim) start(order shimOrder) error {
	process, err := startProcess(order.Path, order.Args, &os.ProcAttr{
		Dir:   order.Dir,
		Env:   order.Env,
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL},
	}, nil) // the shim itself is confined
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

// attend forwards signals until the program or the host has ended.
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

// teardown kills processes until the kernel reports that the shim has no child. Every orphaned descendant
// becomes a child of the shim, so no scan is needed, and fast forking cannot escape.
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

// killChildren kills all current children. None of them can have been reaped, because only this goroutine
// reaps.
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
			_ = unix.Kill(int(pid), unix.SIGKILL) // fails for a process of another user, which outlives the deadline
		}
	}
}

// reap reaps all children that have ended, and reports whether no child is left.
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
