//go:build unix

package proc

import (
	_ "embed"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed watchdog.sh
var watchdogScript string

// watchdogName is the watchdog's name in the list of processes.
const watchdogName = "clichain-watchdog"

// watchdog is a shell that outlives this process for a moment to kill what it was running. One serves all runs that go
// on at once, and ends with the last: it would outlive this process for nothing, and be left to the first process,
// which may not reap it. Where there is no shell, runs work without it. It is safe for concurrent use.
type watchdog struct {
	mu      sync.Mutex
	runs    int         // that need it
	disown  func()      // what ends with the last of them
	process *os.Process // nil while there is no run
	life    *os.File    // its standard input
	groups  map[int]stat
}

var guard = &watchdog{groups: map[int]stat{}}

// hold starts the watchdog before a program is started, so that this is guarded from its start. release must follow.
func (w *watchdog) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs++; w.runs == 1 {
		w.disown = adopt()
	}
	if w.process == nil {
		_ = w.start() // enter will try again
	}
}

// release ends the watchdog when the last run has ended.
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
	w.groups[s.pid] = s
	w.tell(line('+', s))
}

// leave ends the guard. It must come before the leader is reaped, after which its id may be reused.
func (w *watchdog) leave(s stat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.groups, s.pid)
	w.tell(line('-', s))
}

// leads reports whether a run that goes on has that session. Its leader has not been reaped, so the id is its own.
func (w *watchdog) leads(session int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.groups[session]
	return ok
}

func line(op byte, s stat) string { return fmt.Sprintf("%c %d %d\n", op, s.pid, s.start) }

// tell sends a line to the watchdog. If that fails it starts another one and tells it about all groups.
func (w *watchdog) tell(text string) {
	if w.process != nil {
		_ = w.life.SetWriteDeadline(time.Now().Add(time.Second)) // a pipe has deadlines
		if _, err := w.life.WriteString(text); err == nil {
			return
		}
		w.dismiss()
	}
	if w.start() != nil {
		return
	}
	for _, s := range w.groups {
		_, _ = w.life.WriteString(line('+', s)) // the next line will meet the same error
	}
}

// dismiss kills the watchdog, before it can kill anything.
func (w *watchdog) dismiss() {
	_ = w.process.Kill() // gone already is what we expect
	_, _ = w.process.Wait()
	_ = w.life.Close() // what was not delivered is not needed
	w.process = nil
}

// programDirs are searched for the programs of the watchdog. PATH belongs to the caller, and may contain only the
// directory of a CLI.
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

// watchdogArgs are the arguments of the watchdog for the host with that id.
func watchdogArgs(id string, dirs []string) []string {
	return []string{
		"sh", "-c", watchdogScript, watchdogName, id, programAt(dirs, "grep"), programAt(dirs, "sleep"),
	}
}

// start starts the watchdog without the environment of this process: it must not look like part of a run.
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
		Env:   []string{"LC_ALL=C"}, // not empty, for a /proc that cannot tell this from a start: see procfs.starting
		Files: []*os.File{input, null, null},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = life.Close() // nothing was written
		return err
	}
	w.process, w.life = process, life
	return nil
}
