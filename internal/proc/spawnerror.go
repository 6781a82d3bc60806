package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/clichain/clichain/internal/landlock"
)

// Kind is the reason why a program could not be started.
type Kind string

// The kinds of SpawnError.
const (
	NotFound    Kind = "not_found"   // no such file, or a dangling symbolic link
	Permission  Kind = "permission"  // not executable, or a directory
	ExecFormat  Kind = "exec_format" // neither a script with "#!" nor a program for this machine
	Interpreter Kind = "interpreter" // the script exists, but the program after its "#!" does not
	BadDir      Kind = "bad_dir"     // the working directory is missing, not a directory, or not accessible
	ArgTooBig   Kind = "arg_too_big" // arguments or environment exceed the limits of the system
	ArgNUL      Kind = "arg_nul"     // a zero byte in path, arguments or environment
	Batch       Kind = "batch"       // a Windows batch file, whose arguments cannot be quoted safely
	Resource    Kind = "resource"    // out of processes, memory or descriptors, or the file is being written; try later
	Confine     Kind = "confine"     // the system refused to confine the program
	Other       Kind = "other"       // anything else; see Err
)

// SpawnError is the error for a program that was not started.
type SpawnError struct {
	Kind Kind
	Path string // of the program, or the working directory for BadDir
	Err  error  // from the system
}

// Error includes the program or directory, the kind and the error of the system.
func (e *SpawnError) Error() string {
	return fmt.Sprintf("proc: start %s: %s: %v", e.Path, e.Kind, e.Err)
}

// Unwrap returns the error of the system.
func (e *SpawnError) Unwrap() error { return e.Err }

// Retryable reports whether the same command may succeed a moment later.
func (e *SpawnError) Retryable() bool { return e.Kind == Resource }

func spawnError(path string, err error) *SpawnError {
	if known, ok := errors.AsType[*SpawnError](err); ok {
		return known
	}
	return &SpawnError{Kind: kindOf(path, err), Path: path, Err: err}
}

func kindOf(path string, err error) Kind {
	_, refused := errors.AsType[*landlock.RefusedError](err)
	switch {
	case refused:
		return Confine
	case errors.Is(err, fs.ErrNotExist) && isFile(path):
		return Interpreter // the system names the script if the interpreter is missing
	case errors.Is(err, fs.ErrNotExist), isErrno(err, missingErrnos...):
		return NotFound
	case isErrno(err, formatErrnos...):
		return ExecFormat
	case isErrno(err, sizeErrnos...):
		return ArgTooBig
	case isErrno(err, busyErrnos...):
		return Resource
	case errors.Is(err, fs.ErrPermission):
		return Permission
	}
	return Other
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func isErrno(err error, list ...syscall.Errno) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(list, errno)
}
