package proc

import (
	"errors"
	"os"
	"path/filepath"
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

func start(c Command, files []*os.File) (tree, error) {
	j, err := newJob()
	if err != nil {
		return nil, err
	}
	process, err := j.start(c, files)
	if err != nil {
		j.close()
		return nil, &os.PathError{Op: "fork/exec", Path: c.Path, Err: err}
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

// jobList is PROC_THREAD_ATTRIBUTE_JOB_LIST of winbase.h: the jobs of a new process.
const jobList = 0x2000d

// start starts a program that is in the job from its beginning. os.StartProcess could only add it later, and if this
// process was killed meanwhile, nothing would end the program. The program inherits only the files.
func (j *job) start(c Command, files []*os.File) (*os.Process, error) {
	path, args, dir, env, err := encoded(c)
	if err != nil {
		return nil, err
	}
	standard, err := inheritable(files)
	defer func() {
		for _, handle := range standard {
			_ = windows.CloseHandle(handle) // a duplicate
		}
	}()
	if err != nil {
		return nil, err
	}
	attributes, err := windows.NewProcThreadAttributeList(2)
	if err != nil {
		return nil, err
	}
	defer attributes.Delete()
	const size = unsafe.Sizeof(windows.Handle(0))
	inherited, length := unsafe.Pointer(&standard[0]), uintptr(len(standard))*size
	err = errors.Join(
		attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited, length),
		attributes.Update(jobList, unsafe.Pointer(&j.handle), size),
	)
	if err != nil {
		return nil, err
	}
	startup := windows.StartupInfoEx{
		StartupInfo: windows.StartupInfo{
			Flags: windows.STARTF_USESTDHANDLES | windows.STARTF_USESHOWWINDOW, ShowWindow: windows.SW_HIDE,
			StdInput: standard[0], StdOutput: standard[1], StdErr: standard[2],
		},
		ProcThreadAttributeList: attributes.List(),
	}
	startup.Cb = uint32(unsafe.Sizeof(startup))
	const flags = windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW | windows.CREATE_UNICODE_ENVIRONMENT |
		windows.EXTENDED_STARTUPINFO_PRESENT
	var started windows.ProcessInformation
	err = windows.CreateProcess(path, args, nil, nil, true, flags, &env[0], dir, &startup.StartupInfo, &started)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(started.Process) // until then, its PID belongs to it
	_ = windows.CloseHandle(started.Thread)    // not needed
	return os.FindProcess(int(started.ProcessId))
}

// encoded returns the texts of a command as CreateProcess reads them. A text with a NUL is an error.
func encoded(c Command) (path, args, dir *uint16, env []uint16, err error) {
	name := c.Path
	if c.Dir != "" && !filepath.IsAbs(name) {
		name = filepath.Join(c.Dir, name)
	}
	path, errPath := windows.UTF16PtrFromString(name)
	args, errArgs := windows.UTF16PtrFromString(windows.ComposeCommandLine(c.Args))
	errs := []error{errPath, errArgs}
	if c.Dir != "" { // else that of this process
		dir, err = windows.UTF16PtrFromString(c.Dir)
		errs = append(errs, err)
	}
	for _, variable := range markEnv(c.Env, c.Dir, newCookie()) {
		text, err := windows.UTF16FromString(variable)
		env, errs = append(env, text...), append(errs, err)
	}
	return path, args, dir, append(env, 0, 0), errors.Join(errs...) // an empty block has two
}

// inheritable returns handles of the files that a program can inherit.
func inheritable(files []*os.File) (handles []windows.Handle, err error) {
	self := windows.CurrentProcess()
	for _, file := range files {
		var handle windows.Handle
		from := windows.Handle(file.Fd())
		if err := windows.DuplicateHandle(self, from, self, &handle, 0, true, windows.DUPLICATE_SAME_ACCESS); err != nil {
			return handles, err
		}
		handles = append(handles, handle)
	}
	return handles, nil
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
