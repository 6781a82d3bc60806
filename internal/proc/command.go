package proc

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Command says what to run and how long to wait for its end.
type Command struct {
	// Path is the program, absolute. It is started as it is: links are not resolved.
	Path string
	// Args are all arguments, with the program's name as the first. Empty means Path alone.
	Args []string
	// Env is the whole environment; nil is empty, nothing is inherited. Run adds its cookie, and PWD if Dir is set.
	Env []string
	// Dir is the working directory, empty for that of this process.
	Dir string

	// Stdin is written to standard input, which is then closed; nil means /dev/null. A run that is stopped before all of
	// it was written closes it only when no process of the run is left.
	Stdin []byte
	// Input is copied to standard input up to its end, in place of Stdin, while the run goes on. It is closed when
	// the program's input is, which must end a Read that waits, as that of an [io.Pipe] does.
	Input io.ReadCloser
	// Stdout and Stderr get the output in chunks, as it is read, each from one goroutine of its own; they must not keep
	// the chunk. Once one returns an error or panics the run is stopped with that as its cause, and no more is
	// delivered to it. Nil means that output is only captured.
	Stdout, Stderr io.Writer

	// Started gets the process id of the program, before any of its output. Nil: nobody wants it.
	Started func(pid int)

	// Grace is the time to end after each of the two polite signals. 0 is a second, less than 0 none: kill at once.
	Grace time.Duration
	// KillAt is when a run that is being stopped is killed even if a grace is not over; zero for never. Each signal has
	// half of what is left until then, if that is less than Grace.
	KillAt time.Time
	// Drain is the time for output to end after all processes are gone, 0 for 2 s.
	Drain time.Duration
	// Teardown is the time for all processes to go once they are killed, 0 for 5 s.
	Teardown time.Duration
	// Kill, once closed, ends the run without grace, whether or not it is being stopped already.
	Kill <-chan struct{}

	// Shim starts a process of this package between this process and the program. The kernel hands it every process
	// whose parent ends, so no process of the run can escape or outlive this process. It costs a few milliseconds and
	// megabytes, and needs ShimMain. Linux only; elsewhere it has no effect.
	Shim bool
	// Cgroup is the directory of a version 2 control group that this user may divide. The run gets a group of its own
	// below it, which no process can leave and which is killed as a whole. Empty for none. Linux only; elsewhere it has
	// no effect.
	Cgroup string

	// Capture is how many bytes are kept of the head, and as many of the tail, of each output; 0 for 64 KiB.
	Capture int
	// Limit is the number of bytes on standard output after which the run is stopped with ErrOutputLimit, 0 for none.
	Limit int64
}

func (c Command) withDefaults() Command {
	c.Grace = cmp.Or(c.Grace, time.Second)
	c.Drain = cmp.Or(c.Drain, 2*time.Second)
	c.Teardown = cmp.Or(c.Teardown, 5*time.Second)
	c.Capture = cmp.Or(c.Capture, 64<<10)
	if len(c.Args) == 0 {
		c.Args = []string{c.Path}
	}
	return c
}

// check finds the mistakes that the system reports misleadingly or not at all. It does not check sizes: the system
// knows its limits, and refuses before anything has run.
func (c Command) check() error {
	if hasNUL(c.Path) || hasNUL(c.Dir) || slices.ContainsFunc(c.Args, hasNUL) || slices.ContainsFunc(c.Env, hasNUL) {
		return &SpawnError{ArgNUL, c.Path, errors.New("zero byte in path, directory, arguments or environment")}
	}
	if !filepath.IsAbs(c.Path) {
		return &SpawnError{NotFound, c.Path, errors.New("path is not absolute")}
	}
	if err := checkDir(c.Dir); err != nil {
		return &SpawnError{BadDir, c.Dir, err}
	}
	if runtime.GOOS == "windows" && isBatch(c.Path) {
		return &SpawnError{Batch, c.Path,
			errors.New("batch files cannot be given arguments safely; name the program they start")}
	}
	return nil
}

func hasNUL(s string) bool { return strings.Contains(s, "\x00") }

// checkDir is needed because the system reports a missing directory as a missing program.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "chdir", Path: dir, Err: syscall.ENOTDIR}
	}
	return checkEnter(dir)
}

// isBatch reports whether Windows would run the file in its command interpreter, whose quoting cannot be made safe for
// arguments from outside. Windows ignores case, and dots and spaces at the end of a name.
func isBatch(path string) bool {
	name := strings.ToLower(strings.TrimRight(path, ". "))
	return strings.HasSuffix(name, ".bat") || strings.HasSuffix(name, ".cmd")
}
