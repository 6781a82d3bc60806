// Package held keeps a CLI running between requests. It starts the process in the live mode of its spec, sends
// each request as a turn, and finally ends the process with its process tree. It knows no CLI by name: the spec
// defines the messages and their meaning.
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

// Plan describes what to start, and how to read and judge its turns. Several goroutines may call the funcs.
type Plan struct {
	Invocation *compose.Invocation
	Box        *container.Box // nil: the CLI runs on this machine
	Command    proc.Command   // Shim, Cgroup and Limit
	Rules      *clispec.LiveRules
	Remove     func() // removes the files of the invocation

	// Enter registers the process; stop ends the process. Call leave when the process has ended.
	Enter func(stop context.CancelCauseFunc) (leave func())
	// Timeout limits a turn, First the time until its first output, and Idle every later time without output.
	// Zero means no limit.
	Timeout, First, Idle time.Duration
	// MaxOutput limits the output of a turn, in bytes. Zero means no limit.
	MaxOutput int64
	Windows   bool // the account may have usage windows

	// Compose creates a turn from a request. The error has the reason unsupported if the request needs another
	// process.
	Compose func(req call.Request) (*compose.Call, *call.Error)
	// Read creates the reader of a turn. It sets all fields except Heard, Stop and Ended.
	Read func(c *compose.Call, emit func(call.Event)) *reading.Reading
	// Watch receives the events of a turn, and may stop the turn. Call end after the turn.
	Watch func(
		ctx context.Context, c *compose.Call, r *reading.Reading, stop context.CancelCauseFunc,
	) (hear func(*judge.Sign), end func())
	// Judge creates the answer or the error of a turn that has ended.
	Judge func(c *compose.Call, req call.Request, ev *judge.Evidence, took time.Duration) (*call.Response, *call.Error)
	// Failed creates the error of a process that could not be started.
	Failed func(error) *call.Error
	// Attach lets the functions of the caller, if there are any, answer until detach.
	Attach func(ctx context.Context) (detach func())
	// Permit answers a question of the CLI. If nil, only the access level decides.
	Permit func(ctx context.Context, q call.Question) bool
}

const (
	// politeness limits how long the CLI may take to end an interrupted turn, or to exit on its own.
	politeness = 5 * time.Second
	// queued is the capacity of the queue of lines to write.
	queued = 16
	// maxAsks limits the number of open questions of the CLI.
	maxAsks = 16
)

// CLI is a process in its live mode. It is safe for concurrent use. Concurrent turns wait for each other.
type CLI struct {
	plan    Plan
	conn    *wire.Conn
	input   chan []byte
	unsent  atomic.Int64 // lines in the queue
	running context.Context
	stop    context.CancelCauseFunc
	gone    chan struct{} // closed when the process tree has ended
	kill    chan struct{} // closed to end the process at once
	killed  func()        // closes kill
	pid     atomic.Int64
	asking  semaphore.Semaphore
	turns   semaphore.Semaphore
	asks    sync.WaitGroup
	leaves  bool                 // Ask does not wait for turns that do not end in time
	stuck   atomic.Pointer[turn] // the turn that Ask has left

	contexts contexts
	used     call.Usage // cumulative usage of the context; used by one turn at a time
	mute     bool       // the CLI does not report its usage windows on request; used by one turn at a time

	mu    sync.Mutex
	now   *turn  // receives the output of the process
	ended string // the ID of the latest turn that has ended

	// Valid after gone is closed.
	result proc.Result
	failed error // the process was not started
}

// Start starts the process, and returns when the process has an empty context. The process outlives ctx.
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

// Query starts a process for one request outside any turn, and returns the result.
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

// begin starts the process. Its output belongs to no turn yet.
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

// failure ends a process that failed to become ready, and returns the error.
func (c *CLI) failure(err error) *call.Error {
	t := c.current()
	c.end(err)
	if _, refused := errors.AsType[*wire.Error](err); refused {
		return c.plan.Failed(err)
	}
	if errors.Is(err, wire.ErrEnded) {
		err = nil // the process ended on its own
	}
	_, failed := c.verdict(t, call.Request{}, err)
	if failed == nil {
		return unasked(err)
	}
	return failed
}

// unasked returns the error of a process that printed an answer before it was ready and before it received a
// request. err is why the process ended, or nil if it ended on its own.
func unasked(err error) *call.Error {
	reason := call.ReasonBadOutput
	if err != nil {
		reason = judge.ReasonOfCause(err)
	}
	return &call.Error{
		Reason: reason, Message: "the CLI printed an answer before it received a request", ExitCode: -1, Err: err,
		Stage: call.StageStarted,
	}
}

// run starts the process and returns when its process tree has ended.
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

// write writes lines until the process has ended or is stopped. A nil line closes the input. Nothing else
// closes the input before the process has ended.
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
				return // the process has closed its input, and reports its end in other ways
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

// sayAll sends all messages that apply. It waits for each response before it sends the next message.
func (c *CLI) sayAll(ctx context.Context, composed *compose.Call, list []clispec.LiveMessage) error {
	for i := range list {
		if _, err := c.say(ctx, composed, list[i:i+1], map[string]string{"context": c.contexts.current()}); err != nil {
			return err
		}
	}
	return nil
}

// Gone returns a channel that is closed when the process tree has ended.
func (c *CLI) Gone() <-chan struct{} { return c.gone }

// Close asks the process to exit, and ends the process if it does not, within at most 15 s. It returns when the
// process tree has ended.
func (c *CLI) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), politeness)
	defer cancel()
	c.interruptStuck(ctx)
	_ = c.send(ctx, nil) // it may have ended
	select {
	case <-c.gone:
	case <-ctx.Done():
		c.end(errClosed)
	}
}

// errClosed is the cause of the end of a process that is not needed any more.
var errClosed = errors.New("the live process was closed")

// end terminates the process with signals, and returns when the process tree has ended.
func (c *CLI) end(cause error) {
	c.stop(cause)
	<-c.gone
}

// Kill kills the process at once, and returns when the process tree has ended.
func (c *CLI) Kill(cause error) {
	c.killed()
	c.end(cause)
}

// Err returns why the process has ended, according to its output since its last turn. It returns nil if the
// process is running, or if this package ended it.
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

// Memory returns the resident memory of the process and its descendants, in bytes. ok is false if it is
// unknown.
func (c *CLI) Memory() (size int64, ok bool) { return proc.Memory(int(c.pid.Load())) }

// Result returns the result of the process. It is valid after the process has ended.
func (c *CLI) Result() proc.Result { return c.result }
