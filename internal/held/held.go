// Package held keeps a CLI running between requests: it starts the process in the
// live mode of its spec, sends each request as a turn, and ends whatever is left
// when the process has to go. It knows no CLI by name: what is said, and what it
// means, is in the spec.
package held

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/container"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/lines"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/internal/semaphore"
	"github.com/clichain/clichain/internal/wire"
)

// Plan is what to start, and how its turns are read and judged. The funcs may be
// called by several goroutines.
type Plan struct {
	Invocation *compose.Invocation
	Box        *container.Box // nil: on this machine
	Command    proc.Command   // Shim, Cgroup and Limit
	Rules      *clispec.LiveRules
	Remove     func() // removes the files of the invocation

	// Enter registers the process, which stop ends. Call leave when it has gone.
	Enter func(stop context.CancelCauseFunc) (leave func())
	// Timeout bounds a turn; First and Idle the time until the CLI says anything in it,
	// and every later silence. Zero: no bound.
	Timeout, First, Idle time.Duration
	// MaxOutput bounds the bytes that a turn may print. Zero: no bound.
	MaxOutput int64

	// Compose makes a turn of a request. The error is unsupported where the request
	// needs a process of another kind.
	Compose func(req call.Request) (*compose.Call, *call.Error)
	// Read makes what reads a turn; it sets all but Heard, Stop and Ended.
	Read func(c *compose.Call, emit func(call.Event)) *reading.Reading
	// Watch hears the events of a turn; it may stop it. Call end after the turn.
	Watch func(
		ctx context.Context, c *compose.Call, r *reading.Reading, stop context.CancelCauseFunc,
	) (hear func(*judge.Sign), end func())
	// Judge makes the answer or the error of a turn that has ended.
	Judge func(c *compose.Call, req call.Request, ev *judge.Evidence, took time.Duration) (*call.Response, *call.Error)
	// Failed makes the error of a process that was not started.
	Failed func(error) *call.Error
	// Permit answers a question of the CLI. Nil: only what the access allows.
	Permit func(ctx context.Context, q call.Question) bool
}

const (
	// politeness is how long the CLI may take to end a turn that is interrupted, or to
	// end by itself.
	politeness = 5 * time.Second
	// queued is how many lines may wait to be written.
	queued = 16
	// maxAsks is how many questions of the CLI may be open at once.
	maxAsks = 16
)

// CLI is a process in its live mode. It is safe for concurrent use; of several
// turns at once, each waits for the one before it.
type CLI struct {
	plan    Plan
	conn    *wire.Conn
	input   chan []byte
	unsent  atomic.Int64 // lines that wait to be written
	running context.Context
	stop    context.CancelCauseFunc
	gone    chan struct{} // closed when nothing of it is left
	kill    chan struct{} // closed when it is to end at once
	killed  func()        // closes it
	pid     atomic.Int64
	asking  semaphore.Semaphore
	turns   semaphore.Semaphore
	asks    sync.WaitGroup
	leaves  bool                 // turns that do not end in time
	stuck   atomic.Pointer[turn] // the one that was left

	contexts contexts
	used     call.Usage // by the context, of the counts that the CLI adds up; by one turn at a time

	mu    sync.Mutex
	now   *turn  // what the process says belongs to it
	ended string // the id of the turn that has ended last

	// Valid once gone is closed.
	result proc.Result
	failed error // nothing was started
}

// Start starts the process, and returns when it has an empty context. The process outlives ctx.
func Start(ctx context.Context, plan Plan) (*CLI, *call.Error) {
	c := begin(ctx, plan)
	err := c.sayAll(ctx, plan.Invocation.Call, plan.Rules.Ready)
	if err == nil {
		err = c.open(ctx, plan.Invocation.Call)
	}
	if err != nil {
		return nil, c.failure(judge.Ended(ctx, err))
	}
	c.idle()
	return c, nil
}

// Query starts a process for one request beside all turns, and returns its result.
func Query(ctx context.Context, plan Plan, m clispec.LiveMessage) (json.RawMessage, *call.Error) {
	c := begin(ctx, plan)
	err := c.sayAll(ctx, plan.Invocation.Call, plan.Rules.Ready)
	var result json.RawMessage
	if err == nil {
		result, err = c.say(ctx, plan.Invocation.Call, []clispec.LiveMessage{m}, nil)
	}
	if err != nil {
		return nil, c.failure(judge.Ended(ctx, err))
	}
	c.Close()
	return result, nil
}

// begin starts the process. What it says belongs to no turn yet.
func begin(ctx context.Context, plan Plan) *CLI {
	c := &CLI{
		plan: plan, conn: wire.New(plan.Rules.Envelope), input: make(chan []byte, queued), gone: make(chan struct{}),
		asking: make(semaphore.Semaphore, maxAsks), turns: make(semaphore.Semaphore, 1),
		kill: make(chan struct{}), used: call.Usage{CostUSD: new(0.0)}, contexts: contexts{rules: plan.Rules},
	}
	c.killed = sync.OnceFunc(func() { close(c.kill) })
	c.running, c.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	c.conn.Send, c.conn.Noticed, c.conn.Asked = c.send, c.noticed, c.asked
	c.idle()
	go c.run()
	return c
}

// failure ends a process that did not begin well, and says why.
func (c *CLI) failure(err error) *call.Error {
	t := c.current()
	c.end(err)
	if _, refused := errors.AsType[*wire.Error](err); refused {
		return c.plan.Failed(err)
	}
	if errors.Is(err, wire.ErrEnded) {
		err = nil // by itself
	}
	_, failed := c.verdict(t, call.Request{}, err)
	if failed == nil {
		return unasked(err)
	}
	return failed
}

// unasked is the error of a process that has printed an answer before it was asked,
// and was not ready then. err is why it ended; nil: by itself.
func unasked(err error) *call.Error {
	reason := call.ReasonBadOutput
	if err != nil {
		reason = judge.ReasonOfCause(err)
	}
	return &call.Error{
		Reason: reason, Message: "it gave an answer before it was ready, and was not asked", ExitCode: -1, Err: err,
		Stage: call.StageStarted,
	}
}

// run is the life of the process.
func (c *CLI) run() {
	leave := c.plan.Enter(c.stop)
	defer leave()
	defer close(c.gone)
	defer c.plan.Remove()
	read, write := io.Pipe()
	var writing sync.WaitGroup
	writing.Go(func() { c.write(write) })
	command, inv := c.plan.Command, c.plan.Invocation
	command.Path, command.Args = inv.Path, append([]string{inv.Path}, inv.Args...)
	command.Env, command.Dir = inv.Env, inv.Dir
	command.Input, command.Kill = read, c.kill
	command.Started = func(pid int) { c.pid.Store(int64(pid)) }
	command.Stdout, command.Stderr = &lines.Splitter{Line: c.stdoutLine}, &lines.Splitter{Line: c.stderrLine}
	var left error
	c.result, left, c.failed = c.plan.Box.Supervise(c.running, command)
	if c.result.Cause == nil {
		c.result.Cause = left
	}
	c.stop(wire.ErrEnded)
	c.conn.End(wire.ErrEnded)
	writing.Wait()
	c.asks.Wait()
}

// write writes lines until the process has gone or is stopped. An empty one ends its
// input, which nothing else does before the process has gone.
func (c *CLI) write(to *io.PipeWriter) {
	for {
		select {
		case <-c.running.Done():
			return
		case line := <-c.input:
			if line == nil {
				_ = to.Close() // always nil
				return
			}
			if _, err := to.Write(append(line, '\n')); err != nil {
				return // it has closed its input, and ends in other ways
			}
			c.unsent.Add(-1)
		}
	}
}

func (c *CLI) send(ctx context.Context, line []byte) error {
	c.unsent.Add(1)
	select {
	case c.input <- line:
		return nil
	case <-ctx.Done():
		c.unsent.Add(-1)
		return context.Cause(ctx)
	case <-c.running.Done():
		return wire.ErrEnded
	}
}

// sayAll sends all messages that apply, each when the one before it is answered.
func (c *CLI) sayAll(ctx context.Context, composed *compose.Call, list []clispec.LiveMessage) error {
	for i := range list {
		if _, err := c.say(ctx, composed, list[i:i+1], map[string]string{"context": c.contexts.current()}); err != nil {
			return err
		}
	}
	return nil
}

// Gone is closed when nothing of the process is left.
func (c *CLI) Gone() <-chan struct{} { return c.gone }

// Close asks the process to end, and ends it if it does not, in 15 s at most. It
// returns when nothing of it is left.
func (c *CLI) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), politeness)
	defer cancel()
	c.interruptStuck(ctx)
	_ = c.send(ctx, nil) // it may have gone
	select {
	case <-c.gone:
	case <-ctx.Done():
		c.end(errClosed)
	}
}

// errClosed is why a process was ended that nobody needs any more.
var errClosed = errors.New("the live process was closed")

// end has the process asked to end by signals, and returns when nothing of it is left.
func (c *CLI) end(cause error) {
	c.stop(cause)
	<-c.gone
}

// Kill ends the process at once, and returns when nothing of it is left.
func (c *CLI) Kill(cause error) {
	c.killed()
	c.end(cause)
}

// Err is why the process has gone, as far as it said so since its last turn. Nil: it
// has not, or it was to end.
func (c *CLI) Err() error {
	select {
	case <-c.gone:
	default:
		return nil
	}
	if c.failed == nil && c.result.Cause != nil {
		return nil
	}
	if _, err := c.verdict(c.current(), call.Request{}, nil); err != nil {
		return err
	}
	return wire.ErrEnded
}

// Memory is what the process and its descendants have in memory, in bytes; ok is false
// where that cannot be told.
func (c *CLI) Memory() (size int64, ok bool) { return proc.Memory(int(c.pid.Load())) }

// Result is how the process went, once it has gone.
func (c *CLI) Result() proc.Result { return c.result }
