package openai

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"net/http"

	"github.com/clichain/clichain"
)

// stream is a response that goes on. Its headers go out with the first text: a call that fails before has the status
// of its error.
type stream struct {
	w        *reply
	voice    voice
	q        *question
	text     text
	model    string // of the backend that is asked
	attempts []clichain.Attempt
	begun    bool
	left     bool // the client has
}

func (h *handler) stream(w *reply, r *http.Request, a api, q *question) *apiError {
	s := &stream{w: w, voice: a.voice(q), q: q}
	for e, err := range h.events(r.Context(), q) {
		var problem *apiError
		if err != nil {
			problem = failed(r.Context(), err, a.params)
		} else {
			problem = s.take(e)
		}
		if problem != nil {
			return s.fail(problem)
		}
		if s.left {
			break
		}
	}
	return nil
}

// events are those of the answer. One that has to meet a schema is not known to be the answer before its end.
func (h *handler) events(ctx context.Context, q *question) iter.Seq2[clichain.Event, error] {
	if !h.BufferStreams && q.req.Schema == nil {
		return h.backend.Stream(ctx, q.req)
	}
	return func(yield func(clichain.Event, error) bool) {
		resp, err := h.backend.Complete(ctx, q.req)
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		for _, a := range resp.Attempts {
			if !yield(clichain.Event{Kind: clichain.EventAttempt, Attempt: &a}, nil) {
				return
			}
		}
		yield(clichain.Event{Kind: clichain.EventDone, Backend: resp.Backend, Response: resp}, nil)
	}
}

func (s *stream) take(e clichain.Event) *apiError {
	switch e.Kind {
	case clichain.EventStart:
		s.model = ""
	case clichain.EventSession:
		s.model = cmp.Or(e.Model, s.model)
	case clichain.EventAttempt:
		s.attempts = append(s.attempts, *e.Attempt)
	case clichain.EventDelta, clichain.EventText:
		s.say(e.Backend, s.text.add(e.Text))
	case clichain.EventReset:
		s.text.reset()
	case clichain.EventDone:
		return s.finish(e.Response)
	}
	return nil
}

// say sends a piece of the answer, after the headers.
func (s *stream) say(backend, piece string) {
	if piece == "" {
		return
	}
	s.begin(backend)
	s.send(s.voice.text(piece))
}

func (s *stream) begin(backend string) {
	if s.begun {
		return
	}
	s.begun = true
	s.w.answeredBy(backend, s.attempts)
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
	s.send(s.voice.begin(cmp.Or(s.model, s.q.req.Model, everyone)))
}

func (s *stream) finish(resp *clichain.Response) *apiError {
	rest, ok := s.text.finish(resp.Text)
	if !ok {
		return fault(http.StatusBadGateway, typeServer, "answer_changed",
			"%s took back text that was sent already; clichain serve --hold sends text when the answer is known", resp.Backend)
	}
	s.model = cmp.Or(resp.Model, s.model)
	s.begin(resp.Backend)
	s.say(resp.Backend, rest)
	s.send(s.voice.done(resp))
	return nil
}

// fail ends a stream that has begun; one that has not becomes a response with a status.
func (s *stream) fail(err *apiError) *apiError {
	if s.begun {
		s.send(s.voice.failed(err))
	}
	return err
}

// send writes events, unless the client has left.
func (s *stream) send(events []event) {
	var out bytes.Buffer
	for _, e := range events {
		if err := e.write(&out); err != nil { // never: all of them are values of ours
			s.left = true
			return
		}
	}
	if s.left {
		return
	}
	boundWriting(s.w)
	if _, err := s.w.Write(out.Bytes()); err != nil {
		s.left = true
	} else if err := http.NewResponseController(s.w).Flush(); err != nil {
		s.left = true
	}
}
