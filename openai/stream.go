package openai

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"net/http"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/request"
	"github.com/clichain/clichain/openai/internal/response"
)

// stream is a streamed response. It sends the headers with the first text, so that a call that fails before has the
// status of its error.
type stream struct {
	w        *reply
	config   *Config
	encoder  response.Encoder
	answers  *answers
	request  *request.Request
	text     streamText
	cut      *cutter
	usage    clichain.Usage // of the backend that runs, so far
	model    string         // of the backend that runs
	attempts []clichain.Attempt
	begun    bool
	ended    bool // the answer is complete
	closed   bool // the client left
}

func (a *answerer) stream(ctx context.Context, w *reply, api *api, req *request.Request) *apierror.Error {
	s := &stream{
		w: w, config: a.config, encoder: api.encoder(req), answers: a.answers, request: req, cut: newCutter(req.Stop),
	}
	for e, err := range a.events(ctx, req) {
		var failed *apierror.Error
		if err != nil {
			failed = a.callError(ctx, err, api, req)
		} else {
			failed = s.take(e)
		}
		if failed != nil {
			return s.fail(failed)
		}
		if s.closed || s.ended { // this ends the call if it still runs
			break
		}
	}
	return nil
}

// events returns the events of the answer. Text that has to match a schema can change until the answer is complete.
func (a *answerer) events(ctx context.Context, req *request.Request) iter.Seq2[clichain.Event, error] {
	if !a.config.BufferStreams && req.Schema == nil {
		return a.backend.Stream(ctx, req.Request)
	}
	return func(yield func(clichain.Event, error) bool) {
		resp, err := a.backend.Complete(ctx, req.Request)
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		for _, attempt := range resp.Attempts {
			if !yield(clichain.Event{Kind: clichain.EventAttempt, Attempt: &attempt}, nil) {
				return
			}
		}
		yield(clichain.Event{Kind: clichain.EventDone, Backend: resp.Backend, Response: resp}, nil)
	}
}

func (s *stream) take(e clichain.Event) *apierror.Error {
	switch e.Kind {
	case clichain.EventStart:
		s.model, s.usage = "", clichain.Usage{}
	case clichain.EventUsage:
		s.usage = s.usage.Add(e.Usage)
	case clichain.EventSession:
		s.model = cmp.Or(e.Model, s.model)
	case clichain.EventAttempt:
		s.attempts = append(s.attempts, *e.Attempt)
	case clichain.EventDelta, clichain.EventText:
		if s.write(e.Backend, s.text.add(e.Text)); s.cut.stopped {
			s.end(&clichain.Response{Backend: e.Backend, Model: s.model, Usage: s.usage, Attempts: s.attempts})
		}
	case clichain.EventReset:
		s.text.reset()
	case clichain.EventDone:
		return s.finish(e.Response)
	}
	return nil
}

// write sends the part of a piece that a stop text does not end, after the headers.
func (s *stream) write(backend, piece string) {
	s.sendText(backend, s.cut.add(piece))
}

func (s *stream) sendText(backend, piece string) {
	if piece == "" {
		return
	}
	s.begin(backend)
	s.send(s.encoder.Text(piece))
}

func (s *stream) begin(backend string) {
	if s.begun {
		return
	}
	s.begun = true
	s.w.answeredBy(backend, s.attempts)
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
	s.send(s.encoder.Begin(cmp.Or(s.model, s.request.Model, request.ChainModel)))
}

func (s *stream) finish(resp *clichain.Response) *apierror.Error {
	rest, ok := s.text.finish(resp.Text)
	if !ok {
		return apierror.New(http.StatusBadGateway, apierror.TypeServer, "answer_changed",
			"%s took back text that was sent already; %s sends text when the answer is known",
			resp.Backend, s.config.fieldName("BufferStreams"))
	}
	s.model = cmp.Or(resp.Model, s.model)
	s.write(resp.Backend, rest)
	s.sendText(resp.Backend, s.cut.rest())
	s.end(s.cut.response(resp))
	return nil
}

func (s *stream) end(resp *clichain.Response) {
	s.begin(resp.Backend)
	s.answers.keep(s.request, resp)
	s.send(s.encoder.Done(resp))
	s.ended, s.w.complete = true, !s.closed
}

// fail ends a stream that has begun. The endpoint sends the error if it has not.
func (s *stream) fail(err *apierror.Error) *apierror.Error {
	if s.begun {
		s.send(s.encoder.Failed(err))
	}
	return err
}

// send writes events, unless the client left.
func (s *stream) send(events []response.Event) {
	var out bytes.Buffer
	for _, e := range events {
		if err := e.Write(&out); err != nil { // never: all values marshal
			s.closed = true
			return
		}
	}
	if s.closed {
		return
	}
	s.w.limitWrite()
	if _, err := s.w.Write(out.Bytes()); err != nil {
		s.closed = true
	} else if err := http.NewResponseController(s.w).Flush(); err != nil {
		s.closed = true
	}
}
