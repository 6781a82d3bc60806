package conversation

import (
	"errors"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/internal/session"
)

// set replaces the thread of a backend, or adds it as the last one.
func (h *history) set(t call.Thread) {
	if parsed, ok := session.Parse(t.Session); !ok || parsed.Backend != t.Backend { // no session of a CLI
		t = call.Thread{Backend: t.Backend}
	}
	if i := h.thread(t.Backend); i >= 0 {
		h.threads[i] = t
		return
	}
	h.threads = append(h.threads, t)
}

func (h *history) thread(backend string) int {
	return slices.IndexFunc(h.threads, func(t call.Thread) bool { return t.Backend == backend })
}

// forget drops the session of a backend, because the messages that it holds are unknown. The backend keeps its place.
func (h *history) forget(backend string) {
	if i := h.thread(backend); i >= 0 {
		h.threads[i] = call.Thread{Backend: backend}
	}
}

// answered adds an answer. Its backend becomes the first.
func (h *history) answered(resp *clichain.Response, files []string) {
	h.messages = append(h.messages, message{Role: clichain.RoleAssistant, Content: resp.Text, Files: files})
	h.set(call.Thread{Backend: resp.Backend, Session: resp.Session, Messages: h.total()})
	i := h.thread(resp.Backend)
	h.threads = slices.Concat(h.threads[i:i+1], h.threads[:i], h.threads[i+1:])
}

// failed records which sessions the failed attempts of a turn have left. Only a session that its CLI reported is known
// to hold the message.
func (h *history) failed(attempts []call.Attempt) {
	for _, a := range attempts {
		if inner := call.AsChainError(a.Err); inner != nil {
			h.failed(inner.Attempts)
			continue
		}
		if a.Skipped {
			continue
		}
		be, ok := errors.AsType[*call.Error](a.Err)
		var handle session.Handle
		if ok {
			handle, ok = session.Parse(be.Session)
		}
		if !ok || be.Reason == clichain.ReasonContextOverflow {
			h.forget(a.Backend)
			continue
		}
		h.set(call.Thread{Backend: handle.Backend, Session: be.Session, Messages: h.total(), Interrupted: true})
	}
}

// attemptsOf returns the failed attempts of a turn.
func attemptsOf(resp *clichain.Response, err error) []call.Attempt {
	if err == nil {
		return resp.Attempts
	}
	if chain := call.AsChainError(err); chain != nil {
		return chain.Attempts
	}
	be := call.AsError("", err)
	return policy.AttemptsOf(be.Backend, be, 0)
}

// mayShorten reports whether a backend refused the length of the messages, and no backend can have changed anything.
func mayShorten(attempts []call.Attempt) bool {
	overflowed := func(a call.Attempt) bool { return a.Reason == clichain.ReasonContextOverflow }
	acted := func(a call.Attempt) bool {
		be, ok := errors.AsType[*call.Error](a.Err)
		return ok && be.SideEffects
	}
	return anyAttempt(attempts, overflowed) && !anyAttempt(attempts, acted)
}

// anyAttempt reports whether the predicate is true for an attempt, also for one of an inner chain.
func anyAttempt(attempts []call.Attempt, is func(call.Attempt) bool) bool {
	return slices.ContainsFunc(attempts, func(a call.Attempt) bool {
		if inner := call.AsChainError(a.Err); inner != nil {
			return anyAttempt(inner.Attempts, is)
		}
		return is(a)
	})
}
