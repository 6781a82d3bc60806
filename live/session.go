// Package live keeps CLIs running between requests. Each cold call starts the CLI; a turn in a running process
// does not. A [Session] is one conversation with one process. A [Pool] provides warm processes as backends. The
// package knows no CLI by name: the spec defines the messages and their meaning, and a clichain.Provider
// provides the rest.
package live

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/structured"
)

// Question describes an action for which a CLI asks permission.
type Question = call.Question

// Config configures a [Session]. The zero value is a conversation without access.
type Config struct {
	// Request contains the settings of all turns: Access, Dir, Model, Options, Env, the system messages, and
	// Session or Options.SessionID if the CLI's live mode supports them. Each answer must match Schema: the CLI is
	// asked once to correct an answer that does not.
	//
	// Other messages are an earlier conversation, and Threads are the sessions that hold a part of it; see
	// conversation.Conversation.Request. The session resumes the thread of its backend, and the first turn has the
	// messages that the thread lacks. Without a thread, or if the CLI does not resume it, the first turn has all
	// messages. If the last message is of the user and the first turn has the same text, it asks for its answer.
	Request clichain.Request
	// OnPermission decides when the CLI asks to use a tool with AccessWrite. It may wait for a user. ctx is the
	// context of the turn and ends with the turn; the session then denies the question and does not wait for
	// OnPermission. If OnPermission ignores ctx, its goroutine belongs to the caller; while 16 such goroutines
	// of a session run, further questions are refused. If OnPermission panics, the question is denied and the
	// turn gets a warning. If OnPermission is nil, questions are denied. With less access, all questions are
	// denied; with AccessFull, all are allowed.
	OnPermission func(ctx context.Context, q Question) bool
	// MaxQueue limits the turns that wait for the previous turn, or for Resume. Zero means 16.
	MaxQueue int
	// Hooks observe each turn that begins as a call with one attempt. An answer that does not match Schema is a failed
	// attempt. The hooks of a turn run one after the other, and the turn waits for them. Their ctx ends with the turn
	// and has the values of the ctx of Ask. If a hook panics, the turn is canceled, and Turn.Wait and Ask repeat the
	// panic. Cooldown is not called. Nil means none.
	Hooks *clichain.Hooks
	// Tools are functions of the caller that the model can call in each turn; see package hosttools. A panic of a
	// function ends the turn with an error. Nil means none.
	Tools call.HostToolSet
	// Store keeps the usage windows that the turns report, as ChainConfig.Store does. Nil means that they are not kept.
	Store cooldown.QuotaStore
}

const defaultMaxQueue = 16

// ErrInterrupted is wrapped by the error of a turn that Interrupt ended. The Reason of that error is canceled.
var ErrInterrupted = errors.New("live: the turn was interrupted")

// ErrStopped is wrapped by the error of a turn that ended, or never began, because its session ended. The
// Reason of that error is canceled.
var ErrStopped = errors.New("live: the session was stopped")

// Session is a conversation with one process of a CLI. Create it with [New]. It is safe for concurrent use.
// After Start, it must be ended with Stop or Kill.
type Session struct {
	provider *clichain.Provider
	cfg      Config
	schema   *structured.Schema // of all answers, used by one turn at a time; nil: free text

	life context.Context // ends with the session
	end  context.CancelCauseFunc
	work chan struct{} // signals that there may be a turn to begin
	over chan struct{} // closed when the session has ended completely

	keep  func(context.Context, []call.QuotaWindow) // stores usage windows
	entry *cooling.Entry                            // of the breaker; used by one goroutine at a time, like asked
	asked *clichain.Request                         // of the latest turn; nil: there was none
	lacks opening

	mu      sync.Mutex
	state   State
	changes int // number of state changes
	since   time.Time
	err     error
	cli     *held.CLI
	queue   []*Turn
	now     *Turn // in flight; nil: none
	turns   int   // number of turns that have ended
	usage   clichain.Usage
	session string // of the latest answer
	readers []*reader
	died    error // of the turn in which the CLI ended
}

// New returns a session of a backend's CLI. It starts nothing. A nil cfg means defaults.
func New(p *clichain.Provider, cfg *Config) *Session {
	s := &Session{provider: p, state: Created, since: time.Now(), work: make(chan struct{}, 1), over: make(chan struct{})}
	if cfg != nil {
		s.cfg = *cfg
	}
	s.lacks.request = s.cfg.Request.Clone()
	s.lacks.threads = s.lacks.request.Threads
	s.session = session.Of(p.Name(), s.cfg.Request)
	s.cfg.MaxQueue = cmp.Or(s.cfg.MaxQueue, defaultMaxQueue)
	s.keep = held.Keep(p, s.cfg.Request, s.cfg.Store)
	s.life, s.end = context.WithCancelCause(context.Background())
	return s
}

// Start starts the CLI and returns when it is ready for the first turn. The error is a [*StateError], or a
// [*clichain.BackendError] like that of a call; after the latter, the session is over. The session continues if
// ctx ends after Start has returned.
func (s *Session) Start(ctx context.Context) error {
	if err := s.enter("start", Starting); err != nil {
		return err
	}
	cli, err := s.hold(s.while(ctx))
	s.lacks.values = context.WithoutCancel(ctx)
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

// Turn is one message to the CLI and its answer.
type Turn struct {
	text   string
	req    clichain.Request // the text, with the settings and the messages that the CLI lacks
	ctx    context.Context
	values context.Context // for the hooks
	stop   context.CancelCauseFunc
	see    func(clichain.Event) // passes events to the hooks
	done   chan struct{}
	resp   *clichain.Response
	err    error

	panicked atomic.Pointer[hookPanic]
}

// Wait waits for the answer. The error is a [*clichain.BackendError], or that of ctx. The turn continues when
// ctx ends. If a hook panicked in the turn, Wait panics with the same value.
func (t *Turn) Wait(ctx context.Context) (*clichain.Response, error) {
	select {
	case <-t.done:
		return t.result()
	default:
	}
	select {
	case <-t.done:
		return t.result()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (t *Turn) result() (*clichain.Response, error) {
	if p := t.panicked.Load(); p != nil {
		panic(p.value)
	}
	return t.resp, t.err
}

// Send queues a message. The session sends it to the CLI after the earlier turns, or after Resume while the
// session is paused. The error is a [*StateError], or a [*clichain.BackendError] with the reason budget_spent
// if the queue is full.
func (s *Session) Send(text string) (*Turn, error) { return s.send(s.life, text) }

// send is Send for a turn whose hooks get the values of ctx.
func (s *Session) send(values context.Context, text string) (*Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("send"); err != nil {
		return nil, err
	}
	if len(s.queue) >= s.cfg.MaxQueue {
		return nil, call.Errorf(clichain.ReasonBudgetSpent, "config.max_queue", "%d turns are already waiting", len(s.queue))
	}
	t := &Turn{text: text, done: make(chan struct{})}
	t.ctx, t.stop = context.WithCancelCause(s.life)
	t.values = values
	s.queue = append(s.queue, t)
	s.wake()
	return t, nil
}

// Ask sends a text and waits for the answer. If ctx ends, Ask cancels the turn.
func (s *Session) Ask(ctx context.Context, text string) (*clichain.Response, error) {
	if ctx.Err() != nil {
		return nil, skipped(s.provider.Name(), judge.End(ctx))
	}
	t, err := s.send(ctx, text)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { t.stop(judge.End(ctx)) })()
	return t.Wait(context.Background())
}

// Pause holds back turns that have not begun until Resume. A turn in flight continues.
func (s *Session) Pause() error { return s.enter("pause", Paused) }

// Resume lets the waiting turns begin.
func (s *Session) Resume() error {
	defer s.wake()
	return s.enter("resume", Running)
}

// Interrupt cancels the turn in flight, if any, and returns when the turn has ended. Waiting turns stay in the
// queue.
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

// Stop asks the CLI to exit, and ends it if it does not, within at most 15 s. It cancels the turn in flight and
// the waiting turns. It returns when the process tree has ended. Stop has no effect on a session that is over.
// It ends a session that was not started.
func (s *Session) Stop() { s.halt((*held.CLI).Close) }

// Kill is Stop without waiting for the CLI to exit: it kills the CLI at once.
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
