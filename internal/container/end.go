package container

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
)

// How long the client may take to end what is inside: when a run is to stop,
// and after it. The second is the last chance.
const (
	stopPatience = 5 * time.Second
	endPatience  = 10 * time.Second
)

// Supervise runs the command to its end, and ends what it has left in its
// container, if there is one. left says that this failed. err is non-nil only
// when nothing was started.
func (b *Box) Supervise(ctx context.Context, c proc.Command) (result proc.Result, left, err error) {
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
		_ = b.clean(ctx, b.Stop, stopPatience) // the last clean tells
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
	if left = b.clean(ctx, b.End, endPatience); left != nil {
		left = fmt.Errorf("something may be left in the container: %w", left)
	}
	return result, left, nil
}

// over is what runtimes say of a container that is no more: then nothing runs
// in it.
var over = regexp.MustCompile(`(?i)no such container|no container with|is not running|on running containers|already in progress`)

// clean runs the client once. It does so after the end of ctx, too.
func (b *Box) clean(ctx context.Context, args []string, patience time.Duration) error {
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
	return fmt.Errorf("exit status %d: %s", result.ExitCode, plaintext.LastLine(said))
}

// boxLines are the words of the wrapper, and those of a runtime that did not
// get as far.
var boxLines = judge.CompileLines([]clispec.LineRule{
	{Reason: call.ReasonNotInstalled, Pattern: `(?m)^clichain: (?P<message>no program .* in the container)$`},
	{Reason: call.ReasonSpawn, Pattern: `(?m)^clichain: (?P<message>cannot .* in the container)$`},
	{Reason: call.ReasonSpawn, Pattern: `(?im)^(?P<message>(?:docker: |error: )?(?:error response from daemon|cannot connect to|permission denied while trying to connect|no such container|no container with|can only create exec|(?:crun|runc): |OCI runtime).*)`,
		Hint: "check that the container runtime works, that the container is running, and that it has sh"},
})

// Explain puts right what a failure is called that came about around the CLI,
// and adds what was left. err is the verdict on ev.
func (b *Box) Explain(err *call.Error, ev *judge.Evidence, hints map[call.Reason]string) {
	if b == nil || err == nil {
		return
	}
	f, ok := boxLines.Find(call.EventError, clispec.OnStderr, ev.Stderr, ev.Now)
	switch {
	case !mute(ev):
	case ok:
		err.Reason, err.Message, err.Hint = f.Reason, plaintext.OneLine(f.Message), f.Hint
		if err.Hint == "" {
			err.Hint = hints[f.Reason]
		}
	case err.Reason == call.ReasonExit && ev.Result.ExitCode == 128+9:
		err.Reason, err.Message = call.ReasonKilled, "ended by SIGKILL inside the container, most often for want of memory"
	}
	if ev.Left != nil {
		err.Message = strings.TrimPrefix(plaintext.OneLine(err.Detail()+"; "+ev.Left.Error()), "; ")
		err.Err = errors.Join(err.Err, ev.Left)
	}
}

// mute reports that the run failed by itself before the CLI had a word.
func mute(ev *judge.Evidence) bool {
	t := ev.Tally
	return ev.Result.Cause == nil && ev.Result.ExitCode > 0 && t.Terminal == nil && len(t.Failures) == 0 && t.AnswerText() == ""
}
