package proc

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// scanPause is the interval between two checks whether the job is empty.
const scanPause = time.Millisecond

// rememberEvery returns 0, which means never, because the job knows its processes.
func rememberEvery() time.Duration { return 0 }

// jobTree is a tree in a job object, which no process can leave. Windows ends the job with this process, so no
// watchdog is needed.
type jobTree struct {
	process *os.Process
	job     *job
	done    chan struct{} // see exited
}

// start starts the program suspended, so that it is in the job before it can start other processes.
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

// watch closes done when the program exits. It blocks a thread.
func (t *jobTree) watch() {
	defer close(t.done)
	_ = t.process.WithHandle(func(h uintptr) { // valid until reap
		_, _ = windows.WaitForSingleObject(windows.Handle(h), windows.INFINITE)
	})
}

func (t *jobTree) pid() int                { return t.process.Pid }
func (t *jobTree) exited() <-chan struct{} { return t.done }
func (t *jobTree) remember()               {}

// ask sends the only available signal, which reaches programs that share the console of this process.
func (t *jobTree) ask(s softSignal) {
	if s == interrupt {
		// On error, the program is killed later.
		_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(t.pid()))
	}
}

// sweep terminates the job and waits until it is empty.
func (t *jobTree) sweep(limit time.Duration) swept {
	deadline := time.Now().Add(limit)
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

var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

type job struct{ handle windows.Handle }

// newJob creates a job whose processes are killed when its last handle is closed, also by the death of this
// process.
func newJob() (*job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(handle) // the job is empty
		return nil, err
	}
	return &job{handle}, nil
}

// adopt adds a process that was started suspended to the job, and resumes it.
func (j *job) adopt(p *os.Process) error {
	var failed error
	err := p.WithHandle(func(h uintptr) {
		if failed = windows.AssignProcessToJobObject(j.handle, windows.Handle(h)); failed != nil {
			return
		}
		if status, _, _ := resumeProcess.Call(h); status != 0 {
			failed = windows.NTStatus(status)
		}
	})
	return errors.Join(err, failed)
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	times                             [4]int64
	faults, total, active, terminated uint32
}

func (j *job) active() (int, error) {
	var a accounting
	err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return int(a.active), err
}

func (j *job) terminate() { _ = windows.TerminateJobObject(j.handle, 1) } // fails only after it was closed

func (j *job) close() { _ = windows.CloseHandle(j.handle) } // kills the remaining processes
