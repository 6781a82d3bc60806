package proc

import (
	"context"
	"time"
)

// Run runs a program to its end and returns when no process of it is left. If ctx is done, Run stops the
// program: it sends SIGINT, then SIGTERM, each with its grace period, then SIGKILL to the whole tree.
//
// The error is nil if a program was started, however the program ended. Otherwise it is a *SpawnError, or the
// cause of ctx if ctx was done before the start. After ctx is done, Run returns within 2·Grace + Teardown +
// 2·Drain, in the worst case with Result.TreeClean false. Run may be called concurrently.
func Run(ctx context.Context, c Command) (_ Result, err error) {
	defer func() {
		if err != nil && c.Input != nil {
			_ = c.Input.Close() // unblocks the writer of Input
		}
	}()
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return Result{}, err
	}
	if c, err = c.behindShim(); err != nil {
		return Result{}, err
	}
	s, err := openStreams(c)
	if err != nil {
		return Result{}, spawnError(c.Path, err)
	}
	r := run{command: c, streams: s, result: Result{Started: time.Now()}}
	r.tree, err = start(c, s.child[:])
	s.closeChildEnds()
	if err != nil {
		s.close()
		return Result{}, spawnError(c.Path, err)
	}
	return r.supervise(ctx), nil
}

type run struct {
	command Command
	tree    tree
	streams *streams
	result  Result
}

func (r *run) supervise(ctx context.Context) Result {
	r.result.Pid = r.tree.pid()
	if r.command.Started != nil {
		r.command.Started(r.result.Pid)
	}
	r.streams.begin()
	r.result.Cause = r.await(ctx)
	if r.result.Cause != nil {
		r.stop()
	}
	left := r.tree.sweep(r.command.Teardown)
	r.result.TreeClean, r.result.Leftovers = left.clean, left.leftovers
	r.finishStreams()
	r.finishTree()
	r.result.Duration = time.Since(r.result.Started)
	return r.result
}

// await returns nil when the program has ended, or the reason to stop it.
func (r *run) await(ctx context.Context) error {
	notes, stop := noteTimer()
	defer stop()
	for {
		select {
		case <-r.tree.exited():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.streams.failed:
			return r.streams.failure()
		case <-r.command.Kill:
			return ErrKilled
		case <-notes:
			r.tree.remember()
		}
	}
}

// noteTimer ticks when it is time to call tree.remember. On systems that do not need remember, it never ticks.
func noteTimer() (<-chan time.Time, func()) {
	every := rememberEvery()
	if every == 0 { // never
		return nil, func() {}
	}
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}

// stop sends SIGINT, then SIGTERM. It keeps the input of the program open until the program has ended.
// Otherwise a program that ignores the signals would take the part that it has read for the whole input.
func (r *run) stop() {
	r.holdStdin()
	for i, s := range []softSignal{interrupt, terminate} {
		r.tree.remember()
		grace := r.grace(2 - i)
		if grace < 0 || r.killed() {
			break
		}
		r.tree.ask(s)
		r.result.SoftSignal = string(s)
		if r.exitsWithin(grace) {
			return
		}
	}
	r.result.Escalated = true
}

// holdStdin stops writing input, and records how much of it the program has read.
func (r *run) holdStdin() {
	delivered, untouched := r.streams.holdStdin()
	r.result.Undelivered, r.result.Untouched = !delivered, untouched
}

// grace returns how long to wait after the next of the given number of signals.
func (r *run) grace(signals int) time.Duration {
	grace := r.command.Grace
	if kill := r.command.KillAt; !kill.IsZero() {
		grace = min(grace, time.Until(kill)/time.Duration(signals))
	}
	return grace
}

func (r *run) killed() bool {
	select {
	case <-r.command.Kill:
		return true
	default:
		return false
	}
}

// exitsWithin waits for the end of the program, unless the program is to be killed at once.
func (r *run) exitsWithin(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.tree.exited():
		return true
	case <-r.command.Kill:
	case <-timer.C:
	}
	return false
}

// finishStreams collects the rest of the output. The error of a Writer counts even if the program ended first,
// so that the result does not depend on timing.
func (r *run) finishStreams() {
	if r.result.Cause == nil {
		r.holdStdin()
	}
	r.result.DrainCut = !r.streams.drain(r.command.Drain)
	r.result.Stdout, r.result.Stderr = r.streams.stdout.capture(), r.streams.stderr.capture()
	if r.result.Cause == nil {
		r.result.Cause = r.streams.failure()
	}
}

// finishTree reaps the program. If the program cannot die because it is blocked in the kernel, a goroutine
// reaps it later.
func (r *run) finishTree() {
	r.result.ExitCode = -1
	timer := time.NewTimer(reapTimeout)
	defer timer.Stop()
	select {
	case <-r.tree.exited():
	case <-timer.C:
		r.result.TreeClean = false
		go func() {
			<-r.tree.exited()
			r.tree.reap()
		}()
		return
	}
	s := r.tree.reap()
	r.result.ExitCode, r.result.Signal = s.code, s.signal
	if s.lost && r.result.Cause == nil {
		r.result.Cause = ErrReapLost
	}
}
