package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/proc"
)

// ErrMissing means that the program git is not on PATH.
var ErrMissing = errors.New("the program git is not on PATH; install git")

// MaxOutput is the number of bytes on standard output after which Repo.Run and Original.Ask stop git.
const MaxOutput = 1 << 30

// Error reports that git ended with an exit code that is not 0, or was stopped.
type Error struct {
	Command  string // the subcommand, such as "add"
	ExitCode int    // -1 if a signal ended git
	Stderr   string // its beginning and end
	Err      error  // why git was stopped; nil if git ended by itself
}

// Error includes the messages that git printed.
func (e *Error) Error() string {
	message := "git " + e.Command + ": "
	if e.Err != nil {
		return message + e.Err.Error()
	}
	if text := strings.TrimSpace(e.Stderr); text != "" {
		return message + text
	}
	return fmt.Sprintf("%sexit code %d", message, e.ExitCode)
}

// Unwrap returns Err, such as the cause of the context.
func (e *Error) Unwrap() error { return e.Err }

var finder machine.Finder

// Program returns the path of the program git, or an error that wraps ErrMissing.
func Program() (string, error) {
	path, err := finder.Find([]string{"git"})
	if err != nil {
		return "", fmt.Errorf("workspace: %w", ErrMissing)
	}
	return path, nil
}

// command is one run of git.
type command struct {
	dir   string   // the working directory
	env   []string // in addition to that of environment
	user  bool     // git reads the configuration of the user and of the system
	args  []string // after the flags that are the same for all runs
	stdin io.Reader
	// stdout receives the output. strict makes an unreadable directory a failure.
	stdout io.Writer
	strict bool
}

func (c command) run(ctx context.Context) error {
	path, err := Program()
	if err != nil {
		return err
	}
	var stdin []byte
	if c.stdin != nil {
		if stdin, err = io.ReadAll(c.stdin); err != nil {
			return fmt.Errorf("workspace: read the input of git: %w", err)
		}
	}
	args := append([]string{"git"}, append(flags(), c.args...)...)
	result, err := proc.Run(ctx, proc.Command{
		Path: path, Args: args, Env: append(environment(path, c.user), c.env...), Dir: c.dir,
		Stdin: stdin, Stdout: c.stdout, Limit: MaxOutput, Grace: 500 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	failure := &Error{
		Command: subcommand(c.args), ExitCode: result.ExitCode, Stderr: result.Stderr.Text(), Err: result.Cause,
	}
	if result.Cause != nil || result.ExitCode != 0 || result.DrainCut || c.strict && unread(failure.Stderr) {
		return fmt.Errorf("workspace: %w", failure)
	}
	return nil
}

// unread reports whether git left out a directory because it could not read it. Git then ends with exit code 0.
func unread(stderr string) bool {
	return strings.HasPrefix(stderr, unreadMessage) || strings.Contains(stderr, "\n"+unreadMessage)
}

const unreadMessage = "warning: could not open directory "

// output runs the command and returns its standard output.
func (c command) output(ctx context.Context) ([]byte, error) {
	var buffer bytes.Buffer
	c.stdout = &buffer
	err := c.run(ctx)
	return buffer.Bytes(), err
}

// subcommand returns the first argument that is neither an option nor a value of -c.
func subcommand(args []string) string {
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
		} else if !strings.HasPrefix(args[i], "-") {
			return args[i]
		}
	}
	return ""
}

// null is the empty file. Git for Windows accepts this name too.
const null = "/dev/null"

// environment returns the environment of every run. If user is false, nothing of the user's environment is in it,
// except what programs on Windows need.
func environment(program string, user bool) []string {
	env := []string{
		"PATH=" + filepath.Dir(program), "LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_ADVICE=0",
		// A partial clone fetches missing objects with the transport that its configuration names.
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		"GIT_TRACE2=0", "GIT_TRACE2_EVENT=0", "GIT_TRACE2_PERF=0",
	}
	var inherited []string
	if runtime.GOOS == "windows" {
		inherited = []string{"SystemRoot", "TEMP", "TMP"}
	}
	if user {
		inherited = append(inherited, "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM",
			"GIT_CONFIG_GLOBAL")
	} else {
		env = append(env, "HOME="+null, "XDG_CONFIG_HOME="+null,
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+null, "GIT_ATTR_NOSYSTEM=1")
	}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// flags returns the flags of every run. Values of -c have precedence over all files.
func flags() []string {
	settings := []string{
		"core.hooksPath=" + null, "core.fsmonitor=false", "core.untrackedCache=false", "core.alternateRefsCommand=",
		"protocol.allow=never", "safe.directory=*", "diff.ignoreSubmodules=all", "status.submoduleSummary=false",
		"gc.auto=0", "maintenance.auto=false", "log.showSignature=false",
	}
	args := []string{"--no-pager", "--literal-pathspecs", "--no-replace-objects", "--no-optional-locks"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}
