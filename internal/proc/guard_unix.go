//go:build unix

package proc

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed watchdog.sh
var watchdogScript string

// watchdogName is the watchdog's name in process listings.
const watchdogName = "clichain-watchdog"

// watchdog manages a shell that kills the processes of this process's runs if this process dies. One shell
// serves all concurrent runs. It ends with the last run, because an idle shell would become an orphan of
// process 1, which may not reap it. Without a shell on the system, runs work without the watchdog. It is safe
// for concurrent use.
type watchdog struct {
	groups leaders

	mu      sync.Mutex
	runs    int          // active runs
	disown  func()       // called after the last run
	process *os.Process  // nil without active runs
	life    *os.File     // standard input of the shell
	limit   *unix.Rlimit // see fileLimit
}

var guard = &watchdog{}

// hold starts the shell before a program is started, so that the program is guarded from the beginning. A call
// of release must follow.
func (w *watchdog) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs++; w.runs == 1 {
		w.disown = adopt()
	}
	if w.process == nil {
		_ = w.start() // enter tries again
	}
}

// release ends the shell when the last run has ended.
func (w *watchdog) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs--; w.runs > 0 {
		return
	}
	w.disown()
	if w.process != nil {
		w.dismiss()
	}
}

func (w *watchdog) enter(s stat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.groups.add(s)
	w.tell(line('+', s))
}

// leave removes a process group from the guard. Call it before the leader is reaped, because the PID can be
// reused after that.
func (w *watchdog) leave(s stat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.groups.remove(s)
	w.tell(line('-', s))
}

// leads reports whether session belongs to an active run. The leader of an active run has not been reaped, so
// its PID cannot belong to another process. It does not wait for a call that starts or ends a run.
func (w *watchdog) leads(session int) bool { return w.groups.contain(session) }

func line(op byte, s stat) string { return fmt.Sprintf("%c %d %d\n", op, s.pid, s.start) }

// tell sends a line to the shell. If that fails, it starts a new shell and sends it all groups.
func (w *watchdog) tell(text string) {
	if w.process != nil {
		w.limitWrites()
		if _, err := w.life.WriteString(text); err == nil {
			return
		}
		w.dismiss()
	}
	if w.start() != nil {
		return
	}
	w.limitWrites()
	for _, s := range w.groups.list() {
		_, _ = w.life.WriteString(line('+', s)) // an error recurs at the next line
	}
}

// limitWrites bounds the time that a shell which does not read can block. Pipes have deadlines.
func (w *watchdog) limitWrites() { _ = w.life.SetWriteDeadline(time.Now().Add(time.Second)) }

// dismiss kills the shell before the shell can kill anything.
func (w *watchdog) dismiss() {
	_ = w.process.Kill() // it may have ended already
	_, _ = w.process.Wait()
	_ = w.life.Close() // undelivered lines are not needed
	w.process = nil
}

// fileLimit returns the limit of open files that this process had when it started, nil if no shell has run. Go raises
// the limit of this process, and package os gives the original to every program that it starts, such as the shell.
func (w *watchdog) fileLimit() *unix.Rlimit {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limit
}

// programDirs are searched for the programs that the watchdog uses. PATH belongs to the caller, and may contain
// only the directory of a CLI.
var programDirs = []string{"/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"}

// programAt returns the path of the program in the first directory that contains it, or "".
func programAt(dirs []string, name string) string {
	for _, dir := range dirs {
		path := dir + "/" + name
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil {
			return path
		}
	}
	return ""
}

// watchdogArgs returns the arguments of the shell for the host with that ID.
func watchdogArgs(id string, dirs []string) []string {
	return []string{
		"sh", "-c", watchdogScript, watchdogName, id, programAt(dirs, "grep"), programAt(dirs, "sleep"),
	}
}

// start starts the shell without the environment of this process, because the shell must not look like a member
// of a run.
func (w *watchdog) start() error {
	input, life, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_ = life.Close() // nothing was written
		return err
	}
	defer null.Close()
	args := watchdogArgs(hostID(), programDirs)
	process, err := os.StartProcess("/bin/sh", args, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"LC_ALL=C"}, // not empty: see procfs.starting
		Files: []*os.File{input, null, null},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = life.Close() // nothing was written
		return err
	}
	w.process, w.life = process, life
	if w.limit == nil {
		w.limit = fileLimitOf(process.Pid)
	}
	return nil
}

// leaders are the leaders of active runs, by PID. They have their own lock: a scan asks for them while it holds the
// lock of the process table. The watchdog may read the process table while it holds its own lock. The zero value is
// empty. It is safe for concurrent use.
type leaders struct {
	mu    sync.Mutex
	byPID map[int]stat
}

func (l *leaders) add(s stat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byPID == nil {
		l.byPID = map[int]stat{}
	}
	l.byPID[s.pid] = s
}

func (l *leaders) remove(s stat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byPID, s.pid)
}

func (l *leaders) contain(pid int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.byPID[pid]
	return ok
}

func (l *leaders) list() []stat {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.byPID))
}
