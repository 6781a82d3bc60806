package conversation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/session"
)

// turn is one turn of a conversation. It ends with settle.
type turn struct {
	*Conversation
	cancel  context.CancelFunc
	yield   func(clichain.Event, error) bool
	changed changes

	left      bool // the reader has stopped
	delivered bool // the reader has received text
	settled   bool
	reported  map[string]string // the sessions that backends have reported, without those known to hold the message
	warnings  []string
	earlier   []call.Attempt // of the call whose messages were too long
}

// run asks the backend, and once more with half of the messages if they were too long.
func (t *turn) run(ctx context.Context, text string) {
	t.begin(ctx, text)
	defer t.abandon()
	resp, err := t.ask(ctx, t.history)
	if err != nil && !t.left && !t.delivered {
		if attempts := attemptsOf(nil, err); mayShorten(attempts) {
			if n := t.history.surplus(size(t.history.messages) / 2); n > 0 {
				t.locked(func(h *history) { h.failed(attempts) })
				t.earlier = attempts
				resp, err = t.ask(ctx, t.shortened(ctx, n))
			}
		}
	}
	t.settle(resp, err)
	switch {
	case t.left:
	case err != nil:
		t.yield(clichain.Event{}, err)
	default:
		t.yield(clichain.Event{Kind: clichain.EventDone, Backend: resp.Backend, Response: resp}, nil)
	}
}

// begin adds the message to the history, and drops the oldest messages if there are too many.
func (t *turn) begin(ctx context.Context, text string) {
	t.changed = changes{dir: t.cfg.Request.Dir, since: time.Now()}
	t.reported = map[string]string{}
	t.locked(func(h *history) {
		h.ask(text)
		t.started = map[string]bool{}
	})
	limit := t.cfg.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	if limit < 0 || size(t.history.messages) <= limit {
		return
	}
	if t.cfg.Summarize != nil {
		limit /= 2 // otherwise each turn would need a summary
	}
	if n := t.history.surplus(limit); n > 0 {
		short := t.shortened(ctx, n)
		t.locked(func(h *history) { *h = short })
	}
}

func (t *turn) locked(change func(*history)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.history)
}

// shortened returns the history without its oldest n messages.
func (t *turn) shortened(ctx context.Context, n int) history {
	lead := leadFor(t.history.dropped + n)
	if t.cfg.Summarize == nil {
		return t.history.without(n, lead)
	}
	var dropped []clichain.Message
	if t.history.lead != "" {
		dropped = append(dropped, clichain.Message{Role: clichain.RoleUser, Content: t.history.lead})
	}
	for _, m := range t.history.messages[:n] {
		dropped = append(dropped, clichain.Message{Role: m.Role, Content: m.text()})
	}
	summary, err := t.cfg.Summarize(ctx, dropped)
	if err != nil {
		t.warnings = append(t.warnings, fmt.Sprintf("%d old messages were dropped without a summary: %v", n, err))
		return t.history.without(n, lead)
	}
	return t.history.without(n, "(A summary of the earlier conversation:)\n"+summary)
}

// ask makes one call. It cancels the call if the reader stops, and reads it to its end, because its error reports the
// session.
func (t *turn) ask(ctx context.Context, h history) (*clichain.Response, error) {
	req := h.request(t.cfg.Request)
	if err := compose.Check(req); err != nil {
		return nil, err
	}
	for e, err := range t.backend.Stream(ctx, req) {
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case clichain.EventDone:
			resp := e.Response.Clone()
			resp.Backend = cmp.Or(resp.Backend, t.backend.Name())
			session.MarkHandover(resp, req)
			resp.Attempts = slices.Concat(t.earlier, resp.Attempts)
			resp.Warnings = append(resp.Warnings, t.warnings...)
			return resp, nil
		case clichain.EventStart:
			t.locked(func(*history) { t.started[e.Backend] = true })
			t.checkpoint()
		case clichain.EventSession:
			t.reported[e.Backend] = session.Handle{Backend: e.Backend, ID: e.Session}.String()
		case clichain.EventDelta, clichain.EventText:
			t.delivered = true
			t.holds(e.Backend)
		case clichain.EventThinking:
			t.holds(e.Backend)
		case clichain.EventReset:
			t.delivered = false
		case clichain.EventToolUse:
			t.changed.see(e.Input)
			t.holds(e.Backend)
		}
		if !t.left && !t.yield(e, nil) {
			t.left = true
			t.cancel()
		}
	}
	return nil, call.Errorf(clichain.ReasonBadOutput, "", "the stream ended without an answer")
}

// holds records that the session of a backend holds the message, because its model has begun to answer.
func (t *turn) holds(backend string) {
	handle := t.reported[backend]
	if handle == "" || t.cfg.Request.Options.NoSessionPersistence {
		return
	}
	delete(t.reported, backend)
	t.locked(func(h *history) {
		h.set(call.Thread{Backend: backend, Session: handle, Messages: h.total(), Interrupted: true})
		delete(t.started, backend)
	})
	t.checkpoint()
}

func (t *turn) checkpoint() {
	if t.cfg.Checkpoint != nil {
		t.cfg.Checkpoint(t.Conversation)
	}
}

// settle records the outcome of the turn. A message that failed remains only if a session holds it or an agent may have
// changed something.
func (t *turn) settle(resp *clichain.Response, err error) {
	attempts, files := attemptsOf(resp, err), t.changed.files()
	t.locked(func(h *history) {
		h.failed(attempts)
		switch last := len(h.messages) - 1; {
		case err == nil:
			h.answered(resp, files)
		case len(files) > 0:
			h.messages[last].Files = union(h.messages[last].Files, files)
		case !h.holdsLast():
			h.messages = h.messages[:last]
		}
		t.started = nil
	})
	t.settled = true
}

// holdsLast reports whether a session holds the last message.
func (h *history) holdsLast() bool {
	return slices.ContainsFunc(h.threads, func(t call.Thread) bool { return t.Messages == h.total() })
}

// abandon ends a turn whose outcome is unknown, because the reader or the backend panicked.
func (t *turn) abandon() {
	if t.settled {
		return
	}
	t.locked(func(h *history) {
		*h = h.uncertain(t.started)
		t.started = nil
	})
}

// uncertain returns the history without the sessions of some backends, which may hold the last message or not.
func (h history) uncertain(backends map[string]bool) history {
	h.threads = slices.Clone(h.threads)
	for backend := range backends {
		h.forget(backend)
	}
	return h
}
