package proc

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// job is a job object.
type job struct{ handle windows.Handle }

// newJob makes a job whose processes are killed when its last handle is closed, be it by the death of this process.
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
		_ = windows.CloseHandle(handle) // it is empty
		return nil, err
	}
	return &job{handle}, nil
}

// adopt takes in a process that was started suspended, and lets it run.
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

// active returns the number of processes in the job.
func (j *job) active() (int, error) {
	var a accounting
	err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return int(a.active), err
}

func (j *job) terminate() { _ = windows.TerminateJobObject(j.handle, 1) } // fails when it is closed only

func (j *job) close() { _ = windows.CloseHandle(j.handle) } // kills what is left
