package loopback

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// frame is one server-sent event. If both are set, raw is used and not data.
type frame struct {
	event string
	data  any
	raw   string
}

// stream is an encoded answer: the frames of the content, then the frames that end the answer.
type stream struct{ content, end []frame }

// write sends a reply to one request, in the request's protocol.
func (s *Server) write(w http.ResponseWriter, r *http.Request, p *protocol, q Request, reply Reply) {
	for name, value := range reply.header {
		w.Header().Set(name, value)
	}
	switch {
	case reply.status != nil:
		p.writeStatus(w, reply.status)
	case reply.hang:
		select {
		case <-s.done:
		case <-r.Context().Done():
		}
		abort()
	case !q.view.stream:
		writeJSON(w, p.whole(q, reply))
	default:
		s.writeStream(w, r, reply, p.encode(q, reply))
	}
}

func (s *Server) writeStream(w http.ResponseWriter, r *http.Request, reply Reply, frames stream) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	send := frames.content
	if !reply.truncate {
		send = append(send, frames.end...)
	}
	for _, f := range send {
		if !s.wait(r, reply.delay) || !f.writeTo(w) {
			abort()
		}
	}
	if reply.truncate {
		abort()
	}
}

// abort cuts the connection of the current handler. If the handler returned instead, the response would end properly,
// and a client would take the part it has for the whole answer.
func abort() { panic(http.ErrAbortHandler) }

// wait sleeps for d and reports whether the server and the client still exist.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.done:
	case <-r.Context().Done():
	}
	return false
}

func (f frame) writeTo(w http.ResponseWriter) bool {
	text := f.raw
	if text == "" {
		text = mustJSON(f.data)
	}
	head := ""
	if f.event != "" {
		head = "event: " + f.event + "\n"
	}
	_, err := fmt.Fprintf(w, "%sdata: %s\n\n", head, text)
	return err == nil && http.NewResponseController(w).Flush() == nil
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, mustJSON(v)) // the client may have disconnected
}

// mustJSON encodes values that this package built. Only the tool arguments of a test can make it panic.
func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("loopback: a reply holds what JSON cannot: %v", err))
	}
	return string(b)
}

var wordPattern = regexp.MustCompile(`\s*\S+\s*|\s+`)

// pieces cuts text into words, so that a reader sees several deltas whose concatenation is the text.
func pieces(text string) []string { return wordPattern.FindAllString(text, -1) }

type object = map[string]any
