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

// turn is what the process says from one question to the next.
type turn struct {
	call           *compose.Call
	reading        *reading.Reading
	stdout, stderr *lines.Splitter
	start          time.Time
	done           chan struct{} // closed at its last event
	finish         func()
	stop           context.CancelCauseFunc // ends the turn, not the process
	quiet          *reading.Silence
	ctx            context.Context   // of the turn; nil between turns
	watch          func(*judge.Sign) // nil between turns
	unwatch        func()
	undelivered    bool // it was ended before its message was written
	later          bool // the process had an earlier turn, which may go on to print on stderr
	resumed        bool // lines of the session's turns before may follow
	shared         bool // the process had an earlier context: a line that names none may be of that one

	size    atomic.Int64 // bytes that it has printed
	limit   int64
	lines   sync.Mutex // held while a line is read
	left    bool       // Ask has returned before its end
	mu      sync.Mutex
	id      string
	early   early
	errors  bytes.Buffer // its part of stderr
	stopped bool         // the process was told to end it
	cut     bool         // a question was denied because the turn has ended: what follows is no answer
}

// begin makes a turn the one to which what the process says belongs.
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

// idle is the time between two turns, in which nothing is asked.
func (c *CLI) idle() *turn {
	return c.begin(&turn{call: c.plan.Invocation.Call, stop: func(error) {}}, func(call.Event) {})
}

// heard notes a sign of life.
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

// name is the id that the CLI has given the turn; "": none yet.
func (t *turn) name() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.id
}

// Ask sends a request as a turn, and returns its answer. Where ctx ends, the turn is
// interrupted, and if that takes too long the process is ended.
func (c *CLI) Ask(ctx context.Context, req call.Request, emit func(call.Event)) (*call.Response, *call.Error) {
	composed, refused := c.plan.Compose(req)
	if refused != nil {
		return nil, refused
	}
	release, err := c.turns.Acquire(ctx)
	if err != nil {
		why := judge.End(ctx)
		return nil, &call.Error{Reason: judge.ReasonOfCause(why), ExitCode: -1, Err: why, Stage: call.StageSkipped}
	}
	defer release()
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
	resp, failed := c.verdict(t, req, c.await(ctx, turnCtx, t))
	switch {
	case failed != nil:
		failed.Usage = c.own(failed.Usage)
	default:
		resp.Usage = c.own(resp.Usage)
	}
	return resp, failed
}

// over ends a turn: what is still said of it belongs to none.
func (c *CLI) over(t *turn) {
	id := t.name()
	c.mu.Lock()
	c.ended = id
	c.mu.Unlock()
	c.idle()
}

// own is a turn's part of the counts that the CLI adds up over a context.
func (c *CLI) own(u call.Usage) call.Usage {
	rules := clispec.SessionRules{Cumulative: c.plan.Rules.Cumulative}
	before := c.used
	if now := session.Used(rules, u); now != nil {
		c.used = *now
	}
	return session.Rebase(rules, u, &session.Record{Used: &before})
}

// ask sends the message of a turn. Its response is the turn's end, or has its id.
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
		case err != nil: // the process has ended, and says why in other ways
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

// feed takes a line of the turn, up to its last event.
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

// response is a response as the event rules read it.
func response(method string, result json.RawMessage, failed *wire.Error) []byte {
	message := map[string]any{"method": method}
	switch {
	case failed != nil:
		message["error"] = map[string]any{"code": failed.Code, "message": failed.Message, "data": failed.Data}
	default:
		message["result"] = result
	}
	line, _ := json.Marshal(message) // cannot fail: JSON that was parsed
	return line
}

// await waits for the end of a turn, whose own context is below the caller's. The cause
// is why it was ended before its last event; nil: it was not.
func (c *CLI) await(caller, ctx context.Context, t *turn) (cause error) {
	select {
	case <-t.done:
		if !t.cutOff() {
			return nil
		}
	case <-c.gone:
		return nil // by itself
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
	case <-t.done: // by the denial of a question
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
	c.end(cause) // what it is about, nobody can tell
	return cause
}

// verdict is the answer, or the error, of a turn that has ended.
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
