// Package conversation holds conversations that outlive a backend. A [Conversation] resumes the session of the backend
// that answered last, which is cheap. If that backend cannot answer, another one gets the earlier messages, and the
// conversation continues there. See docs/how-to/conversation.md.
package conversation

import (
	"context"
	"errors"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/semaphore"
	"github.com/clichain/clichain/internal/session"
)

// DefaultMaxBytes is the default of Config.MaxBytes.
const DefaultMaxBytes = 100_000

// Config configures a [Conversation]. The zero value is a conversation without access.
type Config struct {
	// Request contains the settings of all turns, such as Access, Dir, Model and Options, and the system messages.
	// Other messages, Threads, Options.Continue and Options.SessionID are an error. With AccessRead and higher levels,
	// an empty Dir is the working directory of this process at the time of [New]. Session is a session in which the
	// conversation begins; only its backend knows the messages in it.
	Request clichain.Request
	// MaxBytes limits the messages that the conversation holds, and so the text that another backend gets. The oldest
	// messages are dropped first. The message to answer is never dropped. Zero: DefaultMaxBytes. Negative: no limit.
	MaxBytes int
	// Summarize returns a text that replaces the oldest messages when they are dropped, such as a summary by a model.
	// The first of the messages may be an earlier summary. It runs within the turn, with its context, and not
	// concurrently with itself. If it fails, the messages are dropped without a summary, and the response has a
	// warning. Nil: a sentence that counts the messages replaces them.
	Summarize func(ctx context.Context, dropped []clichain.Message) (string, error)
	// Checkpoint is called within a turn when its message may reach a backend, and again when a session is known to hold
	// the message. A Save in it keeps the message if the process is killed during the turn. Nil: ignored.
	Checkpoint func(*Conversation)
}

// Conversation is a conversation with a backend. Create it with [New] or [Load]. It is safe for concurrent use: its
// turns run one after the other. A turn of an agent that failed after it may have changed something returns its error;
// only the next turn may ask another backend.
type Conversation struct {
	backend clichain.Backend
	cfg     Config
	turn    semaphore.Semaphore // held by the current turn

	mu      sync.Mutex // protects the fields below; only the current turn changes them
	history history
	started map[string]bool // the backends that the current turn has started; nil: there is no current turn
}

// New returns a conversation without messages. b is usually a [clichain.Chain], because a single backend has no other
// one to continue with. A nil cfg means the defaults. New starts nothing.
func New(b clichain.Backend, cfg *Config) *Conversation {
	c := &Conversation{backend: b, turn: make(semaphore.Semaphore, 1)}
	if cfg != nil {
		c.cfg = *cfg
		c.cfg.Request = cfg.Request.Clone()
	}
	req := &c.cfg.Request
	if h, ok := session.Parse(req.Session); ok {
		c.history.threads = []call.Thread{{Backend: h.Backend, Session: req.Session}}
		req.Session = ""
	}
	if req.Access > clichain.AccessNone && req.Dir == "" {
		req.Dir, _ = os.Getwd()
	}
	return c
}

// Send sends the next message of the user and returns the answer. If the previous message has no answer because its
// turn failed, the same text asks for its answer again. Send waits for the current turn; ctx limits the wait too. The
// errors are those of the backend.
func (c *Conversation) Send(ctx context.Context, text string) (*clichain.Response, error) {
	view := chainview.Of(ctx)
	view.CanReset = true
	view.MilestonesOnly = c.cfg.Request.Access < clichain.AccessWrite && // events name changed files
		c.cfg.Checkpoint == nil
	return call.Collect(c.Stream(chainview.With(ctx, view), text))
}

// Stream is like Send and yields the events of the turn. Breaking out of the loop cancels the turn.
func (c *Conversation) Stream(ctx context.Context, text string) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		if err := c.check(text); err != nil {
			yield(clichain.Event{}, err)
			return
		}
		release, err := c.wait(ctx)
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		defer release()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		t := turn{Conversation: c, cancel: cancel, yield: yield}
		t.run(ctx, text)
	})
}

// wait waits for the current turn.
func (c *Conversation) wait(ctx context.Context) (release func(), _ error) {
	release, err := c.turn.Acquire(ctx)
	if err == nil {
		return release, nil
	}
	cause := judge.Ended(ctx, err)
	return nil, &clichain.BackendError{
		Backend: c.backend.Name(), Reason: judge.ReasonOfCause(cause), ExitCode: -1, Err: cause,
		Message: "another turn of the conversation is running", Stage: call.StageSkipped,
	}
}

// check returns an error for settings that no turn can have, and for a message without text.
func (c *Conversation) check(text string) error {
	req, o := c.cfg.Request, c.cfg.Request.Options
	notSystem := func(m clichain.Message) bool { return m.Role != clichain.RoleSystem }
	switch {
	case c.backend == nil:
		return call.Errorf(clichain.ReasonBadOption, "backend", "the conversation has no backend")
	case strings.TrimSpace(text) == "":
		return call.Errorf(clichain.ReasonBadOption, "messages", "the message has no text")
	case slices.ContainsFunc(req.Messages, notSystem):
		return call.Errorf(clichain.ReasonBadOption, "messages",
			"the request of a conversation can only have system messages: use Send for the others")
	case len(req.Threads) > 0 || o.Continue || o.SessionID != "":
		return call.Errorf(clichain.ReasonBadOption, "session",
			"a conversation has its own sessions: leave out threads, continue and session_id")
	case req.Session != "":
		return call.Errorf(clichain.ReasonBadSession, "session",
			"%.200q is not a session: use the Session of a Response", req.Session)
	}
	return nil
}

// Messages returns the messages of the conversation, oldest first, without the system messages and the dropped ones.
// The last one is of the user if it has no answer.
func (c *Conversation) Messages() []clichain.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.history.plain()
}

// Threads returns the sessions of the conversation, with the backend that answered last first. Thread.Messages counts
// all messages since the beginning, without system messages. During a turn, a session that holds its message is
// included as soon as the model has begun to answer.
func (c *Conversation) Threads() []call.Thread {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.history.threads)
}

// Dropped returns the number of messages that were dropped because of Config.MaxBytes.
func (c *Conversation) Dropped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.history.dropped
}

// ErrRecord is wrapped by the errors of [Load] about a record that is damaged or has another version.
var ErrRecord = errors.New("conversation: the record cannot be read")
