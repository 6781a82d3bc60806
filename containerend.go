package clichain

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/clichain/clichain/internal/proc"
)

// How long the client may take to end what is inside: when a run is to stop,
// and after it. The second is the last chance.
const (
	stopPatience = 5 * time.Second
	endPatience  = 10 * time.Second
)

// supervise runs the command to its end, and ends what it has left in its
// container, if there is one. left says that this failed. err is non-nil only
// when nothing was started.
func (b *box) supervise(ctx context.Context, c proc.Command) (result proc.Result, left, err error) {
	if b == nil || ctx.Err() != nil {
		result, err = proc.Run(ctx, c)
		return result, nil, err
	}
	// The client outlives ctx for a moment: what runs inside ends with its last
	// words heard, and not cut off.
	client, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	asked := make(chan struct{})
	inTime := context.AfterFunc(ctx, func() {
		defer close(asked)
		_ = b.clean(ctx, b.stop, stopPatience) // the last clean tells
		stop(context.Cause(ctx))
	})
	result, err = proc.Run(client, c)
	if !inTime() {
		<-asked
		if result.Cause == nil {
			result.Cause = context.Cause(ctx)
		}
	}
	if err != nil {
		return result, nil, err
	}
	if left = b.clean(ctx, b.end, endPatience); left != nil {
		left = fmt.Errorf("something may be left in the container: %w", left)
	}
	return result, left, nil
}

// over is what runtimes say of a container that is no more: then nothing runs
// in it.
var over = regexp.MustCompile(`(?i)no such container|no container with|is not running|on running containers|already in progress`)

// clean runs the client once. It does so after the end of ctx, too.
func (b *box) clean(ctx context.Context, args []string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
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
	case result.ExitCode == 0, over.MatchString(said):
		return nil
	}
	return fmt.Errorf("exit status %d: %s", result.ExitCode, lastLine(said))
}

// boxLines are the words of the wrapper, and those of a runtime that did not
// get as far.
var boxLines = compileLines([]LineRule{
	{Reason: ReasonNotInstalled, Pattern: `(?m)^clichain: (?P<message>no program .* in the container)$`},
	{Reason: ReasonSpawn, Pattern: `(?m)^clichain: (?P<message>cannot .* in the container)$`},
	{Reason: ReasonSpawn, Pattern: `(?im)^(?P<message>(?:docker: |error: )?(?:error response from daemon|cannot connect to|permission denied while trying to connect|no such container|no container with|can only create exec|(?:crun|runc): |OCI runtime).*)`,
		Hint: "check that the container runtime works, that the container is running, and that it has sh"},
})

// explain puts right what a failure is called that came about around the CLI,
// and adds what was left. err is the verdict on ev.
func (b *box) explain(err *BackendError, ev *evidence, hints map[Reason]string) {
	if b == nil || err == nil {
		return
	}
	f, ok := boxLines.find(EventError, OnStderr, ev.stderr, ev.now)
	switch {
	case !mute(ev):
	case ok:
		err.Reason, err.Message, err.Hint = f.reason, oneLine(f.message), f.hint
		if err.Hint == "" {
			err.Hint = hints[f.reason]
		}
	case err.Reason == ReasonExit && ev.result.ExitCode == 128+9:
		err.Reason, err.Message = ReasonKilled, "ended by SIGKILL inside the container, most often for want of memory"
	}
	if ev.left != nil {
		err.Message = strings.TrimPrefix(oneLine(err.Detail()+"; "+ev.left.Error()), "; ")
		err.Err = errors.Join(err.Err, ev.left)
	}
}

// mute reports that the run failed by itself before the CLI had a word.
func mute(ev *evidence) bool {
	t := ev.tally
	return ev.result.Cause == nil && ev.result.ExitCode > 0 && t.terminal == nil && len(t.failures) == 0 && t.answerText() == ""
}
