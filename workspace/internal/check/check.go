// Package check runs the commands that decide whether the work of an agent is accepted. The commands run code that the
// agent wrote, so they get the rights of the agent at most.
package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/confine"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/specs"
)

// Settings are the rights and limits of a check, which are those of the backend whose work it checks.
type Settings struct {
	Env                   []string // the environment variables of the CLI, as "NAME=value"
	Confine               call.Confinement
	ReadPaths, WritePaths []string
	CachePaths            []string // nil: the default caches
	Shim                  bool
	Cgroup                string
	Timeout               time.Duration // for one check
}

// quietEnv turns off colors, terminal control sequences and prompts.
var quietEnv = []string{"TERM=dumb", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0"}

// Missing returns an error if a check cannot run in a directory because it is empty or its program does not exist.
func (s *Settings) Missing(args []string, dir string) *call.Error {
	if len(args) == 0 || args[0] == "" {
		return call.ConfigErrorf("workspace.checks", "a check is empty: name its program")
	}
	if _, err := s.find(args[0], dir); err != nil {
		return call.ConfigErrorf("workspace.checks", "the program %q of a check does not exist", args[0])
	}
	return nil
}

// find returns the absolute path of a program of a check in a directory, with the PATH of the CLI.
func (s *Settings) find(name, dir string) (string, error) {
	return machine.Lookup(name, dir, valueOf(s.Env, "PATH"))
}

func valueOf(env []string, name string) (value string) {
	for _, kv := range env {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			value = v
		}
	}
	return value
}

// Run runs a check in a directory. It returns nil if the exit code is 0, and an error with the reason rejected if the
// check fails or takes longer than the timeout. Stderr of that error has the end of the output. Every other error
// means that the check could not run to its end.
func (s *Settings) Run(ctx context.Context, args []string, dir string) *call.Error {
	path, err := s.find(args[0], dir)
	if err != nil { // the agent removed it
		return rejected(args, "its program does not exist any more", "")
	}
	temp, err := filepath.Abs(filepath.Join(os.TempDir(), localfile.TempName()))
	if err != nil {
		return cannotRun(args, err)
	}
	own, err := localfile.NewDir(temp)
	if err != nil {
		return cannotRun(args, err)
	}
	defer os.RemoveAll(temp)
	_ = own.Close() // only its path is needed
	c := proc.Command{
		Path: path, Args: args, Dir: dir, Shim: s.Shim, Cgroup: s.Cgroup, Capture: 1,
		Env: append(append(append([]string(nil), s.Env...), quietEnv...), "TMPDIR="+temp),
	}
	var failed *call.Error
	if c.Rules, failed = s.rules(c, temp); failed != nil {
		return failed
	}
	return s.run(ctx, c)
}

// rules returns the rules that confine a check. They are nil if the settings or the system do not permit a confinement.
// Any other error refuses the check, because the agent may have caused it. The check gets neither the login nor the
// sessions of any CLI.
func (s *Settings) rules(c proc.Command, temp string) ([]landlock.Rule, *call.Error) {
	if s.Confine == call.ConfineOff {
		return nil, nil
	}
	in := confine.Input{
		Spec: &clispec.Spec{}, Access: call.AccessWrite, Program: c.Path, Env: c.Env, Dir: c.Dir, Temp: temp,
		ReadPaths: s.ReadPaths, WritePaths: s.WritePaths, Caches: s.CachePaths,
	}
	for _, spec := range specs.Every() {
		for _, state := range spec.Confine.State {
			in.OtherState = append(in.OtherState, state.Path)
		}
	}
	_, err := landlock.Usable()
	if _, ok := errors.AsType[*landlock.UnsupportedError](err); ok && s.Confine != call.ConfineRequired {
		return nil, nil
	}
	if err == nil {
		err = confine.MakeState(in)
	}
	var rules []landlock.Rule
	if err == nil {
		rules, err = confine.Rules(in)
	}
	if err != nil {
		return nil, call.Errorf(call.ReasonUnconfined, "", "the check %q cannot be confined: %v", name(c.Args), err)
	}
	return rules, nil
}

// run runs the command of a check within its timeout and the deadline of the call.
func (s *Settings) run(ctx context.Context, c proc.Command) *call.Error {
	out := new(tail)
	c.Stdout, c.Stderr = out, out
	late := &judge.Stop{Reason: call.ReasonTimeout, After: s.Timeout}
	limited, cancel := context.WithTimeoutCause(ctx, s.Timeout, late)
	defer cancel()
	if ask, kill, given := chainview.TerminateAt(ctx, time.Now()); !ask.IsZero() {
		limited, cancel = context.WithDeadlineCause(limited, ask, &judge.Stop{Reason: call.ReasonTimeout, After: given})
		defer cancel()
		c.KillAt = kill
	}
	result, err := proc.Run(limited, c)
	text := out.text(plaintext.NewRedactor(c.Env).CleanDisguised)
	switch cause := judge.Ended(ctx, result.Cause); {
	case err != nil && limited.Err() == nil:
		return cannotRun(c.Args, err)
	case context.Cause(limited) == error(late) && (err != nil || cause != nil):
		return rejected(c.Args, fmt.Sprintf("it took longer than %v", s.Timeout), text)
	case err != nil || cause != nil:
		end := judge.End(limited)
		if ctx.Err() != nil {
			end = judge.End(ctx)
		}
		return &call.Error{
			Reason: judge.ReasonOfCause(end), ExitCode: -1, Err: end,
			Message: fmt.Sprintf("the call ended during the check %q", name(c.Args)),
		}
	case result.Signal != "":
		return rejected(c.Args, "the signal "+result.Signal+" ended it", text)
	case result.ExitCode != 0:
		return rejected(c.Args, fmt.Sprintf("exit status %d", result.ExitCode), text)
	}
	return nil
}

// name returns a check as it is named in messages.
func name(args []string) string { return strings.Join(args, " ") }

func cannotRun(args []string, err error) *call.Error {
	be := call.Errorf(call.ReasonSpawn, "", "the check %q cannot run: %v", name(args), err)
	be.Err = err
	return be
}

// rejected returns the error of work that a check refused. The message has the last lines of the output.
func rejected(args []string, why, output string) *call.Error {
	message := fmt.Sprintf("the check %q failed: %s", name(args), why)
	if lines := plaintext.LastLines(output); lines != "" {
		message += ": " + lines
	}
	return &call.Error{Reason: call.ReasonRejected, ExitCode: -1, Message: plaintext.OneLine(message), Stderr: output}
}
