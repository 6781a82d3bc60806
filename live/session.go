// Package live keeps CLIs running between requests. A cold call costs the start of
// the CLI; a turn in a process that runs already does not. A [Session] is one
// conversation with one process. It knows no CLI by name: what a CLI is sent and
// what its words mean is in its spec, and everything else is that of a
// clichain.Provider.
package live

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/structured"
)

// Question is what a CLI asks for permission to do. A plain value.
type Question = call.Question

// Config sets what a [Session] is for. The zero value is a conversation without
// access.
type Config struct {
	// Request has what holds for all turns: Access, Dir, Model, Options, Env, the system
	// messages, and Session or Options.SessionID where the CLI's live mode takes them.
	// Other messages are refused. Each answer must meet Schema: the CLI is asked once to
	// correct one that does not.
	Request clichain.Request
	// OnPermission answers the CLI when it asks to use a tool with AccessWrite. It may
	// wait for a person. ctx is the context of the turn and ends with it; the session then
	// denies the question and does not wait for OnPermission. A goroutine in which
	// OnPermission ignores ctx belongs to the caller; while 16 of a session run, further
	// questions are refused. If OnPermission panics, the question is denied, and the turn
	// has a warning. Nil: such a question is denied. With less access all are denied,
	// with AccessFull none is.
	OnPermission func(ctx context.Context, q Question) bool
	// MaxQueue bounds the turns that wait for the one before them, or for Resume. Zero:
	// 16.
	MaxQueue int
}

const defaultMaxQueue = 16

// ErrInterrupted is wrapped by the error of a turn that Interrupt ended. Its Reason
// is canceled.
var ErrInterrupted = errors.New("live: the turn was interrupted")

// ErrStopped is wrapped by the error of a turn that the end of its session ended, or
// kept from beginning. Its Reason is canceled.
var ErrStopped = errors.New("live: the session was stopped")

// Session is a conversation with one process of a CLI. Make it with [New]. It is safe
// for concurrent use, and must be ended with Stop or Kill once it was started.
type Session struct {
	provider *clichain.Provider
	cfg      Config
	schema   *structured.Schema // of all answers, used by one turn at a time; nil: free text

	life context.Context // ends with the session
	end  context.CancelCauseFunc
	work chan struct{} // there may be a turn to begin
	over chan struct{} // closed when nothing of the session is left

	entry *cooling.Entry    // of the breaker; for one goroutine at a time, as asked is
	asked *clichain.Request // of the latest turn; nil: there was none

	mu      sync.Mutex
	state   State
	changes int // of the state
	since   time.Time
	err     error
	cli     *held.CLI
	queue   []*Turn
	now     *Turn // goes on; nil: none
	turns   int   // that have ended
	usage   clichain.Usage
	session string // of the latest answer
	readers []*reader
	died    error // of the turn in which the CLI ended
}

// New makes a session of a backend's CLI. Nothing is started. A nil cfg means
// defaults.
func New(p *clichain.Provider, cfg *Config) *Session {
	s := &Session{provider: p, state: Created, since: time.Now(), work: make(chan struct{}, 1), over: make(chan struct{})}
	if cfg != nil {
		s.cfg = *cfg
	}
	s.session = s.cfg.Request.Session
	s.cfg.MaxQueue = cmp.Or(s.cfg.MaxQueue, defaultMaxQueue)
	s.life, s.end = context.WithCancelCause(context.Background())
	return s
}

// Start starts the CLI and returns when it is ready for the first turn. The error is a
// [*clichain.BackendError] as that of a call, and the session is over then, or a
// [*StateError]. The session goes on when ctx ends later.
func (s *Session) Start(ctx context.Context) error {
	if err := s.enter("start", Starting); err != nil {
		return err
	}
	cli, err := s.hold(s.while(ctx))
	var unused *cooling.Entry
	defer func() { unused.Left(ctx) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state == Stopping:
		if cli != nil {
			cli.Kill(ErrStopped)
			unused = s.entry
		}
		s.finish(Stopped, nil)
		return cmp.Or(err, error(&StateError{"start", Stopped}))
	case err != nil:
		s.finish(Error, err)
		return err
	}
	s.cli = cli
	s.set(Running)
	go s.run(cli)
	return nil
}

// hold starts the CLI, unless the breaker is open. A start alone does not close the entry: a CLI that starts may fail
// each time it is asked.
func (s *Session) hold(ctx context.Context) (*held.CLI, error) {
	if err := s.refused(); err != nil {
		return nil, err
	}
	entry, err := held.Guard(ctx, s.provider, s.cfg.Request)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	for _, a := range entry.Probed() {
		s.usage = s.usage.Add(a.Usage)
	}
	s.mu.Unlock()
	cli, err := held.Hold(ctx, s.provider, s.cfg.Request, s.cfg.OnPermission, true)
	if err != nil {
		entry.Ended(ctx, err, ctx.Err() != nil)
		return nil, err
	}
	s.entry = entry
	return cli, nil
}

// while is ctx, ended by the end of the session as well.
func (s *Session) while(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })
	return ctx
}

// refused is the mistake in what holds for all turns. It compiles the schema.
func (s *Session) refused() error {
	notSystem := func(m clichain.Message) bool { return m.Role != clichain.RoleSystem }
	switch req := s.cfg.Request; {
	case slices.ContainsFunc(req.Messages, notSystem):
		return call.Errorf(clichain.ReasonBadOption, "config.request.messages",
			"a session begins with system messages alone: Send the others")
	}
	schema, failed := structured.Compile(s.cfg.Request.Schema)
	if failed != nil {
		return failed
	}
	s.schema = schema
	return nil
}

// Turn is one message to the CLI and what comes of it.
type Turn struct {
	req  clichain.Request
	ctx  context.Context
	stop context.CancelCauseFunc
	done chan struct{}
	resp *clichain.Response
	err  error
}

// Wait waits for the answer. The error is a [*clichain.BackendError], or that of ctx,
// with which the turn goes on.
func (t *Turn) Wait(ctx context.Context) (*clichain.Response, error) {
	select {
	case <-t.done:
		return t.resp, t.err
	default:
	}
	select {
	case <-t.done:
		return t.resp, t.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Send has the CLI asked, after the turns before it; while the session is paused it is
// kept. The error is a [*StateError], or one with the reason budget_spent where as many
// turns wait as may.
func (s *Session) Send(text string) (*Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("send"); err != nil {
		return nil, err
	}
	if len(s.queue) >= s.cfg.MaxQueue {
		return nil, call.Errorf(clichain.ReasonBudgetSpent, "config.max_queue", "%d turns wait already", len(s.queue))
	}
	t := &Turn{req: s.cfg.Request, done: make(chan struct{})}
	t.req.Messages = append(slices.Clone(t.req.Messages), clichain.Message{Role: clichain.RoleUser, Content: text})
	t.ctx, t.stop = context.WithCancelCause(s.life)
	s.queue = append(s.queue, t)
	s.wake()
	return t, nil
}

// Ask sends a text and waits for the answer. Where ctx ends, the turn is ended too.
func (s *Session) Ask(ctx context.Context, text string) (*clichain.Response, error) {
	t, err := s.Send(text)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { t.stop(judge.End(ctx)) })()
	return t.Wait(context.Background())
}

// Pause keeps turns that have not begun until Resume. One that goes on ends as it
// would.
func (s *Session) Pause() error { return s.enter("pause", Paused) }

// Resume lets the turns that were kept begin.
func (s *Session) Resume() error {
	defer s.wake()
	return s.enter("resume", Running)
}

// Interrupt ends the turn that goes on, if there is one, and returns when it has ended.
// The turns that wait are not ended.
func (s *Session) Interrupt(ctx context.Context) error {
	s.mu.Lock()
	err, t := s.check("interrupt"), s.now
	s.mu.Unlock()
	if err != nil || t == nil {
		return err
	}
	t.stop(ErrInterrupted)
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stop asks the CLI to end, and ends it if it does not, in 15 s at most. What goes on
// or waits is ended. It returns when nothing of the CLI is left. A session that is over
// stays as it is, and one that was not started is over then.
func (s *Session) Stop() { s.halt((*held.CLI).Close) }

// Kill ends the CLI at once. Apart from that it is Stop.
func (s *Session) Kill() { s.halt(func(cli *held.CLI) { cli.Kill(ErrStopped) }) }

func (s *Session) halt(end func(*held.CLI)) {
	s.mu.Lock()
	was, cli := s.state, s.cli
	switch {
	case was.Over():
	case was == Created:
		s.finish(Stopped, nil)
	default:
		s.set(Stopping)
	}
	s.mu.Unlock()
	s.end(ErrStopped)
	if cli != nil && !was.Over() {
		end(cli)
	}
	<-s.over
}
