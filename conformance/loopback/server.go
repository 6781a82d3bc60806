// Package loopback is a model server on 127.0.0.1 for the CLIs. It speaks Anthropic Messages, OpenAI Responses,
// OpenAI chat completions and Gemini. It answers as a test scripts it in Go, and keeps every request for assertions.
// It must never know which CLI calls, and must never act on the text of a prompt.
package loopback

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// TB is the part of testing.TB that the server needs.
type TB interface {
	Helper()
	Cleanup(func())
}

// Script decides the answer to a request. It runs on the server's goroutines, for one request at a time.
type Script func(Request) Reply

// Always gives every request the same answer.
func Always(r Reply) Script { return func(Request) Reply { return r } }

// InOrder answers the first request with the first reply, and so on. The last reply repeats.
func InOrder(replies ...Reply) Script {
	return func(q Request) Reply {
		if len(replies) == 0 {
			return Reply{}
		}
		return replies[min(q.N, len(replies))-1]
	}
}

// Server is a running model server. Its methods are safe for concurrent use.
type Server struct {
	URL string // "http://127.0.0.1:PORT", without a path

	http   *httptest.Server
	script Script
	done   chan struct{} // closed by Close; ends every handler that waits
	close  sync.Once

	scripting sync.Mutex // one script call at a time

	mu       sync.Mutex
	requests []Request
	calls    int
	arrived  chan struct{} // closed and replaced after each recorded call
}

// New starts a server that closes when the test ends. A nil script answers "ok".
func New(tb TB, script Script) *Server {
	tb.Helper()
	if script == nil {
		script = Always(Text("ok"))
	}
	s := &Server{script: script, done: make(chan struct{}), arrived: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	tb.Cleanup(s.Close)
	return s
}

// Close stops the server and cuts replies in flight. It returns when all its goroutines have ended.
func (s *Server) Close() {
	s.close.Do(func() {
		close(s.done)
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

// Requests returns all requests so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Calls returns the model calls of the conversation: Requests without side calls and requests that are no model
// calls.
func (s *Server) Calls() []Request {
	return slices.DeleteFunc(s.Requests(), func(q Request) bool { return q.N == 0 })
}

// Arrived returns a channel that is closed when the server has recorded the next of Calls. A program may ask for
// lists of models at any time; these do not count. Call it before the action that causes the call.
func (s *Server) Arrived() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrived
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client disconnected
	}
	q := Request{Method: r.Method, Path: pathOf(r), Header: withoutSecrets(r.Header), Auth: authOf(r), Body: body}
	p := protocolFor(r)
	if p == nil {
		s.record(q)
		refuse(w, r)
		return
	}
	q.Protocol = p.name
	q.view, q.Side = p.read(r, body)
	q = s.record(q)
	s.write(w, r, p, q, s.replyTo(p, q))
}

func (s *Server) record(q Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Protocol != "" && !q.Side {
		s.calls++
		q.N = s.calls
		close(s.arrived)
		s.arrived = make(chan struct{})
	}
	s.requests = append(s.requests, q)
	return q
}

func (s *Server) replyTo(p *protocol, q Request) Reply {
	switch {
	case q.Auth == "":
		return Error(http.StatusUnauthorized, "authentication_error", "no credentials in the request")
	case q.Side:
		return p.side
	}
	s.scripting.Lock()
	defer s.scripting.Unlock()
	return s.script(q)
}

// refuse answers a request that is no model call. A client that tries a WebSocket first continues with HTTP only
// after this status.
func refuse(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		http.Error(w, `{"error":{"message":"no WebSocket here"}}`, http.StatusUpgradeRequired)
		return
	}
	http.Error(w, `{"error":{"message":"no such path"}}`, http.StatusNotFound)
}
