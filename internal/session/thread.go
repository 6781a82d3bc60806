package session

import (
	"fmt"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/transcript"
)

// Of returns the handle of the session that a call of the backend with this request continues, or "".
func Of(backend string, req call.Request) string {
	if t := threadOf(backend, req); t.Session != "" {
		return t.Session
	}
	return req.Session
}

// threadOf returns the thread of a backend, or the zero Thread.
func threadOf(backend string, req call.Request) call.Thread {
	if i := slices.IndexFunc(req.Threads, func(t call.Thread) bool { return t.Backend == backend }); i >= 0 {
		return req.Threads[i]
	}
	return call.Thread{}
}

// Resume returns a request with threads as the request for one backend, without threads. With a thread of the backend,
// it continues that session and has only the messages that the session lacks.
func Resume(backend string, req call.Request) call.Request {
	t := threadOf(backend, req)
	if req.Threads = nil; t.Session == "" {
		return req
	}
	isSystem := func(m call.Message) bool { return m.Role == call.RoleSystem }
	missed := slices.DeleteFunc(slices.Clone(req.Messages[t.Messages:]), isSystem)
	return Retold(req, t.Session, transcript.Missed(missed, t.Interrupted))
}

// Retold returns a request that continues a session with a text in place of all messages except the system messages.
func Retold(req call.Request, handle, text string) call.Request {
	notSystem := func(m call.Message) bool { return m.Role != call.RoleSystem }
	req.Messages = append(slices.DeleteFunc(slices.Clone(req.Messages), notSystem),
		call.Message{Role: call.RoleUser, Content: text})
	req.Session = handle
	return req
}

// CheckThreads returns an error for threads that are invalid for every backend.
func CheckThreads(req call.Request) *call.Error {
	o, seen := req.Options, map[string]bool{}
	if len(req.Threads) > 0 && (req.Session != "" || o.Continue || o.SessionID != "") {
		return call.Errorf(call.ReasonBadOption, "threads",
			"only one of threads, session, continue and session_id can be set")
	}
	for i, t := range req.Threads {
		at := func(field string) string { return fmt.Sprintf("threads[%d].%s", i, field) }
		h, ok := Parse(t.Session)
		switch {
		case t.Backend == "" || plaintext.Problem(t.Backend) != "":
			return call.Errorf(call.ReasonBadOption, at("backend"), "%q is not the name of a backend", t.Backend)
		case seen[t.Backend]:
			return call.Errorf(call.ReasonBadOption, at("backend"), "%q has two threads", t.Backend)
		case t.Session == "" && (t.Messages != 0 || t.Interrupted):
			return call.Errorf(call.ReasonBadOption, at("session"), "is empty, so the thread cannot have messages")
		case t.Session != "" && (!ok || h.Backend != t.Backend):
			return call.Errorf(call.ReasonBadOption, at("session"), "%.200q is not a session of %s", t.Session, t.Backend)
		case t.Messages < 0 || t.Messages > len(req.Messages):
			return call.Errorf(call.ReasonBadOption, at("messages"),
				"%d is not between 0 and %d, the number of messages", t.Messages, len(req.Messages))
		}
		seen[t.Backend] = true
	}
	return nil
}

// MarkHandover marks an answer that the backend of the first thread did not give.
func MarkHandover(resp *call.Response, req call.Request) {
	if len(req.Threads) == 0 || resp.Backend == req.Threads[0].Backend ||
		slices.Contains(resp.Flags, call.FlagHandedOver) {
		return
	}
	resp.HandedOver = req.Threads[0].Backend
	resp.Flags = append(slices.Clip(resp.Flags), call.FlagHandedOver)
	resp.Warnings = append(slices.Clip(resp.Warnings), fmt.Sprintf("the conversation was handed over from %s to %s%s",
		resp.HandedOver, resp.Backend, why(resp.Attempts, resp.HandedOver)))
}

// why returns the reason of the last attempt with a backend, as the end of a sentence.
func why(attempts []call.Attempt, backend string) string {
	for _, a := range slices.Backward(attempts) {
		if a.Backend == backend {
			return fmt.Sprintf(", because %s did not answer: %s", backend, a.Reason)
		}
	}
	return fmt.Sprintf(", because %s was not asked", backend)
}

// WithoutSessions returns the threads of backends whose sessions are gone. Their order remains.
func WithoutSessions(threads []call.Thread) []call.Thread {
	var gone []call.Thread
	for _, t := range threads {
		gone = append(gone, call.Thread{Backend: t.Backend})
	}
	return gone
}
