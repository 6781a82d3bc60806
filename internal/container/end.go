package container

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
)

// Time limits for the client to end the processes inside: when a run has to stop, and after every run.
const (
	stopTimeout = 5 * time.Second
	endTimeout  = 10 * time.Second
)

// Supervise runs the command to its end, and then ends the processes that it has left in the container. left is
// the error of that last step. err is non-nil only if nothing was started. On a nil Box, Supervise only runs
// the command.
func (b *Box) Supervise(ctx context.Context, c proc.Command) (result proc.Result, left, err error) {
	if b == nil || ctx.Err() != nil {
		result, err = proc.Run(ctx, c)
		return result, nil, err
	}
	// The client outlives ctx until the processes inside were asked to terminate, so that their last output is
	// read.
	client, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	stopped := make(chan struct{})
	ranToEnd := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = b.clean(ctx, b.Stop, stopTimeout) // the clean after the run reports remaining processes
		stop(context.Cause(ctx))
	})
	result, err = proc.Run(client, c)
	if !ranToEnd() {
		<-stopped
		if result.Cause == nil {
			result.Cause = context.Cause(ctx)
		}
	}
	if err != nil {
		return result, nil, err
	}
	if left = b.clean(ctx, b.End, endTimeout); left != nil {
		left = fmt.Errorf("processes may be left in the container: %w", left)
	}
	return result, left, nil
}

// over matches the message of a runtime for a container that has ended, in which no process is running.
var over = pattern.Of(`(?i)no such container|no container with|is not running|` +
	`on running containers|already in progress`)

// clean runs the client once, even if ctx has ended.
func (b *Box) clean(ctx context.Context, args []string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	result, err := proc.Run(ctx, proc.Command{
		Path: b.path, Args: append([]string{b.path}, args...), Env: b.env, Grace: -1, Drain: time.Second,
	})
	said := result.Stderr.Text()
	switch {
	case err != nil:
		return err
	case result.Cause != nil:
		return result.Cause
	case result.ExitCode == 0, over().MatchString(said):
		return nil
	}
	return fmt.Errorf("exit status %d: %s", result.ExitCode, plaintext.LastLine(said))
}

// boxLines match the error messages of the wrapper, and those of a runtime that failed before the wrapper
// started.
var boxLines = sync.OnceValue(func() judge.LineProgram { return judge.CompileLines(boxRules) })

var boxRules = []clispec.LineRule{
	{Reason: call.ReasonNotInstalled, Pattern: `(?m)^clichain: (?P<message>no program .* in the container)$`},
	{Reason: call.ReasonUntrustedDir, Pattern: `(?m)^clichain: untrusted: (?P<message>.* in the container)$`},
	{Reason: call.ReasonSpawn, Pattern: `(?m)^clichain: (?P<message>cannot .* in the container)$`},
	{Reason: call.ReasonSpawn, Pattern: `(?im)^(?P<message>(?:docker: |error: )?(?:error response from daemon|` +
		`cannot connect to|permission denied while trying to connect|no such container|no container with|` +
		`can only create exec|(?:crun|runc): |OCI runtime).*)`,
		Hint: "check that the container runtime works, that the container is running, and that it has sh"},
}

// Explain corrects the reason of a failure that the container or its runtime caused, and adds the error for
// processes that were left inside. err is the verdict on ev; hints are those of the spec. A nil Box or err
// changes nothing.
func (b *Box) Explain(err *call.Error, ev *judge.Evidence, hints map[call.Reason]string) {
	if b == nil || err == nil {
		return
	}
	f, ok := boxLines().Find(call.EventError, clispec.OnStderr, ev.Stderr, ev.Now)
	switch {
	case !failedSilently(ev):
	case ok:
		err.Reason, err.Message, err.Hint, err.Advice = f.Reason, plaintext.OneLine(f.Message), f.Hint, nil
		if f.Reason == call.ReasonUntrustedDir {
			err.Advice = []call.Advice{{Action: call.ActionTrust, Field: "config.trust_dir", Value: "the file"}}
		}
		judge.AddHint(err, hints[f.Reason])
	case err.Reason == call.ReasonExit && ev.Result.ExitCode == 128+9:
		err.Reason, err.Message = call.ReasonKilled, "killed by SIGKILL inside the container, usually for lack of memory"
	}
	if ev.Left != nil {
		err.Message = strings.TrimPrefix(plaintext.OneLine(err.Detail()+"; "+ev.Left.Error()), "; ")
		err.Err = errors.Join(err.Err, ev.Left)
	}
}

// failedSilently reports whether the run failed before the CLI printed anything.
func failedSilently(ev *judge.Evidence) bool {
	t := ev.Tally
	return ev.Result.Cause == nil && ev.Result.ExitCode > 0 &&
		t.Terminal == nil && len(t.Failures) == 0 && t.AnswerText() == ""
}
