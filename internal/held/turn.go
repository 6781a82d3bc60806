package held

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/lines"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/wire"
	"github.com/tidwall/gjson"
)

// turn is the output of the process from one request to the next.
type turn struct {
	call           *compose.Call
	reading        *reading.Reading
	stdout, stderr *lines.Splitter
	start          time.Time
	done           chan struct{} // closed at the last event
	finish         func()
	stop           context.CancelCauseFunc // stops the turn, not the process
	quiet          *reading.Silence
	ctx            context.Context   // of the turn; nil between turns
	watch          func(*judge.Sign) // nil between turns
	unwatch        func()
	undelivered    bool // the turn ended before its message was written
	later          bool // the process had an earlier turn, which may still print to stderr
	resumed        bool // lines of earlier turns of the session may follow
	shared         bool // the process had an earlier context, which may have printed a line without a context ID

	size    atomic.Int64 // bytes that the turn has printed
	limit   int64
	lines   sync.Mutex // held while a line is read
	left    bool       // Ask has returned before the end of the turn
	mu      sync.Mutex
	id      string
	early   early
	errors  bytes.Buffer // the stderr output of the turn
	stopped bool         // the process was asked to end the turn
	cut     bool         // a question was denied because the turn has ended, so later output is no answer
}

// begin makes t the turn that receives the output of the process.
func (c *CLI) begin(t *turn, emit func(call.Event)) *turn {
	t.reading, t.start, t.done = c.plan.Read(t.call, emit), time.Now(), make(chan struct{})
	t.finish = sync.OnceFunc(func() { close(t.done) })
	t.reading.Ended, t.reading.Heard, t.reading.Stop = t.ended, t.hear, t.stop
	t.shared, t.reading.DoubtStderr = c.contexts.several(), t.later
	t.stdout, t.stderr = t.reading.Streams()
	t.unwatch = func() {}
	if t.ctx != nil {
		t.watch, t.unwatch = c.plan.Watch(t.ctx, t.call, t.reading, t.stop)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
	return t
}

// idle begins the time between two turns, in which no request is active.
func (c *CLI) idle() *turn {
	return c.begin(&turn{call: c.plan.Invocation.Call, stop: func(error) {}}, func(call.Event) {})
}

// heard records output of the CLI.
func (t *turn) heard() {
	if t.quiet != nil {
		t.quiet.Heard()
	}
}

func (t *turn) hear(s *judge.Sign) {
	t.heard()
	if s.Terminal {
		t.finish()
	} else if t.watch != nil {
		t.watch(s)
	}
}

func (t *turn) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}

// name returns the ID that the CLI has given the turn, or "" if there is none yet.
func (t *turn) name() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.id
}

// Ask sends a request as a turn, and returns the answer. When ctx ends, Ask interrupts the turn; if that takes
// too long, it ends the process.
func (c *CLI) Ask(ctx context.Context, req call.Request, emit func(call.Event)) (*call.Response, *call.Error) {
	composed, refused := c.plan.Compose(req)
	if refused != nil {
		return nil, refused
	}
	release, err := c.turns.Acquire(ctx)
	if err == nil {
		defer release()
	}
	if ctx.Err() != nil {
		why := judge.End(ctx)
		return nil, &call.Error{Reason: judge.ReasonOfCause(why), ExitCode: -1, Err: why, Stage: call.StageSkipped}
	}
	defer c.plan.Attach(ctx)()
	if limit := c.plan.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = judge.Within(ctx, limit)
		defer cancel()
	}
	turnCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	quiet := reading.Listen(c.plan.First, c.plan.Idle, stop)
	defer quiet.End()
	t := &turn{call: composed, ctx: turnCtx, stop: stop, quiet: quiet, limit: c.plan.MaxOutput}
	first, resumed := c.contexts.ask()
	t.later, t.resumed = !first, resumed && c.plan.Rules.OfTurn != "" && c.plan.Rules.TurnID != ""
	t.early.waits = t.resumed
	c.begin(t, emit)
	defer c.over(t)
	defer t.unwatch()
	forget, err := c.ask(turnCtx, t)
	if err != nil {
		t.undelivered = true
		stop(err)
	} else {
		defer forget()
	}
	cause := c.await(ctx, turnCtx, t)
	c.askUsage(ctx, t, cause)
	resp, failed := c.verdict(t, req, cause)
	switch {
	case failed != nil:
		failed.Usage = c.own(failed.Usage)
	default:
		resp.Usage = c.own(resp.Usage)
	}
	return resp, failed
}

// over ends a turn. Later output of the turn belongs to no turn.
func (c *CLI) over(t *turn) {
	id := t.name()
	c.mu.Lock()
	c.ended = id
	c.mu.Unlock()
	c.idle()
}

// own returns a turn's share of the counts that the CLI accumulates over a context.
func (c *CLI) own(u call.Usage) call.Usage {
	rules := clispec.SessionRules{Cumulative: c.plan.Rules.Cumulative}
	before := c.used
	if now := session.Used(rules, u); now != nil {
		c.used = *now
	}
	return session.Rebase(rules, u, &session.Record{Used: &before})
}

// ask sends the message of a turn. Its response ends the turn or contains the turn's ID.
func (c *CLI) ask(ctx context.Context, t *turn) (forget func(), err error) {
	m, params, _ := t.call.Message(c.plan.Rules.Turn, map[string]string{"context": c.contexts.current()})
	if m.Notice {
		return func() {}, c.conn.Notify(ctx, m.Method, params)
	}
	return c.conn.Ask(ctx, m.Method, params, func(result json.RawMessage, err error) {
		refused, isRefusal := errors.AsType[*wire.Error](err)
		switch {
		case isRefusal:
			t.feed(response(m.Method, nil, refused))
			t.finish()
		case err != nil: // the process has ended, and reports it in other ways
		case m.Ends:
			t.feed(response(m.Method, result, nil))
			t.finish()
		default:
			for _, line := range t.named(gjson.GetBytes(result, c.plan.Rules.TurnID).String()) {
				if of := c.turnOf(line); t.owns(of, line) {
					t.feed(line)
				}
			}
		}
	})
}

// feed processes a line of the turn, until the last event.
func (t *turn) feed(line []byte) {
	select {
	case <-t.done:
		return
	default:
	}
	if size := t.size.Add(int64(len(line))); t.limit > 0 && size > t.limit {
		t.stop(proc.ErrOutputLimit)
		return
	}
	t.read(t.stdout, line)
}

// response returns a response in the form that the event rules read.
func response(method string, result json.RawMessage, failed *wire.Error) []byte {
	message := map[string]any{"method": method}
	switch {
	case failed != nil:
		message["error"] = map[string]any{"code": failed.Code, "message": failed.Message, "data": failed.Data}
	default:
		message["result"] = result
	}
	line, _ := json.Marshal(message) // cannot fail: the values are parsed JSON
	return line
}

// await waits for the end of a turn. ctx is the context of the turn and derives from caller. cause is why the
// turn was stopped before its last event, or nil if it was not stopped.
func (c *CLI) await(caller, ctx context.Context, t *turn) (cause error) {
	select {
	case <-t.done:
		if !t.cutOff() {
			return nil
		}
	case <-c.gone:
		return nil // the process ended on its own
	case <-ctx.Done():
	}
	if cause = context.Cause(ctx); caller.Err() != nil {
		cause = judge.End(caller)
	}
	if errors.Is(cause, wire.ErrEnded) {
		<-c.gone
		return nil
	}
	t.undelivered = t.undelivered || c.unsent.Load() > 0
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	select {
	case <-t.done: // because a question was denied
		return cause
	default:
	}
	if c.leaves {
		c.leave(t)
		return cause
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), politeness)
	defer cancel()
	if c.interrupt(bounded, t) == nil {
		select {
		case <-t.done:
			return cause
		case <-c.gone:
			return cause
		case <-bounded.Done():
		}
	}
	c.end(cause) // the state of the process is unknown
	return cause
}

// verdict returns the answer or the error of a turn that has ended.
func (c *CLI) verdict(t *turn, req call.Request, cause error) (*call.Response, *call.Error) {
	result := proc.Result{TreeClean: true}
	select {
	case <-c.gone:
		if c.failed != nil {
			return nil, c.plan.Failed(c.failed)
		}
		result = c.result
	default:
	}
	if cause != nil {
		result.Cause = cause
	}
	result.Undelivered = t.undelivered
	t.mu.Lock()
	result.Stderr = proc.Capture{Head: bytes.Clone(t.errors.Bytes()), Total: int64(t.errors.Len())}
	t.mu.Unlock()
	ev := t.reading.Evidence(result, 0)
	ev.Tally.Session = cmp.Or(ev.Tally.Session, c.contexts.current())
	if cause != nil && t.cutOff() {
		ev.Tally.Terminal = noAnswer(ev.Tally.Total())
	}
	return c.plan.Judge(t.call, req, ev, time.Since(t.start))
}
