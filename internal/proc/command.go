package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/npmshim"
)

// Command describes a program to run, and how long to wait for its end.
type Command struct {
	// Path is the absolute path of the program. Symbolic links are not resolved.
	Path string
	// Args are all arguments, including the name of the program. Empty means Path alone.
	Args []string
	// Env is the whole environment. Nothing is inherited, so nil means an empty environment. Run adds its
	// cookie, and PWD if Dir is set.
	Env []string
	// Dir is the working directory. Empty means that of this process.
	Dir string

	// Stdin is written to standard input, which is then closed. Nil means /dev/null. If the run is stopped
	// before all of Stdin was written, standard input is closed only after all processes of the run have ended.
	Stdin []byte
	// Input is copied to standard input up to its end, instead of Stdin, while the program runs. Run closes
	// Input when it closes the program's input. Close must interrupt a waiting Read, as that of an [io.Pipe]
	// does.
	Input io.ReadCloser
	// Stdout and Stderr receive the output in chunks as it is read. Each is called from its own goroutine and
	// must not keep the chunk. If a Writer returns an error or panics, Run stops the program with that error as
	// the cause, and the Writer receives no more output. If nil, the output is only captured.
	Stdout, Stderr io.Writer

	// Started, if not nil, receives the process ID of the program before any of its output.
	Started func(pid int)

	// Grace is the time to wait after each of the two soft signals. 0 means 1 s; a negative value means that
	// the program is killed at once.
	Grace time.Duration
	// KillAt is when a program that is being stopped is killed even if a grace period is not over; zero means
	// never. Each signal gets half of the time until KillAt if that is less than Grace.
	KillAt time.Time
	// Drain limits the wait for the end of the output after all processes have ended; 0 means 2 s.
	Drain time.Duration
	// Teardown limits the wait for the end of all processes after they were killed; 0 means 5 s.
	Teardown time.Duration
	// Kill stops the run without a grace period when it is closed, even if the run is already being stopped.
	Kill <-chan struct{}

	// Shim starts a process of this package between this process and the program. The kernel makes the shim the
	// parent of every orphaned process of the run, so no process can escape or outlive this process. A shim
	// costs a few milliseconds and megabytes, and needs ShimMain. Linux only; on other systems it has no
	// effect.
	Shim bool
	// Rules confine the program and its descendants with Landlock: the system denies them everything else. A shim is
	// confined too. Nil: no confinement. An empty list denies all files. See landlock.Usable.
	Rules []landlock.Rule
	// Cgroup is the directory of a version 2 control group that is delegated to this user. Each run gets its
	// own group below it. No process can leave that group, and the kernel kills it as a whole. Empty means no
	// group. Linux only; on other systems it has no effect.
	Cgroup string

	// Capture is how many bytes to capture from the head, and from the tail, of each output; 0 means 64 KiB.
	Capture int
	// Limit is the number of bytes on standard output after which the run is stopped with ErrOutputLimit; 0
	// means no limit.
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

// check returns an error for mistakes that the system reports misleadingly or not at all. It does not check
// sizes: the system knows its limits, and reports an error before it starts anything.
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
	return nil
}

// behindShim returns the command with the program that a shim of npm starts. Only on Windows, and only for a batch
// file, it changes the command or returns an error.
func (c Command) behindShim() (Command, error) {
	if runtime.GOOS != "windows" || !isBatch(c.Path) {
		return c, nil
	}
	args, err := npmshim.Resolve(c.Path, exec.LookPath)
	if err == nil && isBatch(args[0]) {
		err = npmshim.ErrUnknown
	}
	if err != nil {
		return c, &SpawnError{Batch, c.Path,
			fmt.Errorf("arguments cannot be passed to a batch file safely; use the program that it starts: %w", err)}
	}
	c.Path, c.Args = args[0], append(args, c.Args[1:]...)
	return c, nil
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

// isBatch reports whether Windows would run the file in its command interpreter, for which untrusted arguments
// cannot be quoted safely. Windows ignores case, and dots and spaces at the end of a name.
func isBatch(path string) bool {
	name := strings.ToLower(strings.TrimRight(path, ". "))
	return strings.HasSuffix(name, ".bat") || strings.HasSuffix(name, ".cmd")
}
