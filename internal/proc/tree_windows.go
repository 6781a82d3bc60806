package proc

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

const (
	// Patience of a poll for the job to become empty.
	scanPause = time.Millisecond
	// rememberEvery is 0: the job remembers.
	rememberEvery = 0
)

// jobTree is a tree in a job object, which nothing in it can leave. The job dies with this process, too, so there is no
// need for a watchdog.
type jobTree struct {
	process *os.Process
	job     *job
	done    chan struct{} // see exited
}

// start starts the program suspended, so that it is in the job before it can start anything.
func start(c Command, files []*os.File) (tree, error) {
	j, err := newJob()
	if err != nil {
		return nil, err
	}
	process, err := os.StartProcess(c.Path, c.Args, &os.ProcAttr{
		Dir:   c.Dir,
		Env:   markEnv(c.Env, c.Dir, newCookie()),
		Files: files,
		Sys: &syscall.SysProcAttr{
			HideWindow:    true,
			CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
		},
	})
	if err != nil {
		j.close()
		return nil, err
	}
	if err := j.adopt(process); err != nil {
		_ = process.Kill() // it is still suspended
		_, _ = process.Wait()
		j.close()
		return nil, err
	}
	t := &jobTree{process: process, job: j, done: make(chan struct{})}
	go t.watch()
	return t, nil
}

// watch closes done at the exit. It holds a thread.
func (t *jobTree) watch() {
	defer close(t.done)
	_ = t.process.WithHandle(func(h uintptr) { // valid until reap
		_, _ = windows.WaitForSingleObject(windows.Handle(h), windows.INFINITE)
	})
}

func (t *jobTree) pid() int                { return t.process.Pid }
func (t *jobTree) exited() <-chan struct{} { return t.done }
func (t *jobTree) remember()               {}

// ask sends the only signal there is; it is heard by programs that share our console.
func (t *jobTree) ask(s softSignal) {
	if s == interrupt {
		_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(t.pid())) // else it will be killed
	}
}

// sweep ends the job and waits until it is empty.
func (t *jobTree) sweep(patience time.Duration) swept {
	deadline := time.Now().Add(patience)
	active, err := t.job.active()
	left := active
	select {
	case <-t.done:
	default:
		left = max(left-1, 0)
	}
	for t.job.terminate(); err == nil && active > 0 && time.Now().Before(deadline); {
		time.Sleep(scanPause)
		active, err = t.job.active()
	}
	return swept{clean: err == nil && active == 0, leftovers: left}
}

func (t *jobTree) reap() status {
	defer t.job.close()
	state, err := t.process.Wait()
	if err != nil {
		return status{code: -1, lost: true}
	}
	return status{code: state.ExitCode()}
}
