package openai

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/permit"
)

const (
	backendHeader  = "Clichain-Backend"
	attemptsHeader = "Clichain-Attempts"
)

// everyone is the model that leaves the choice to the chain.
const everyone = "clichain"

// permitted is what a request may ask for: nothing besides an answer. Its body has a bound of its own, and the files
// with its images are the server's.
var permitted = permit.Permissions{MaxBytes: -1}

// question is what a request asks, by whichever API it came.
type question struct {
	req    clichain.Request
	images []image
	id     string // of the answer
	asked  time.Time
	stream bool
	usage  bool // a stream ends with it

	instructions *string           // of a response, which repeats them
	metadata     map[string]string // and these
}

// answered tells of a whole answer what the API has no field for.
type answered struct {
	Backend  string       `json:"backend"`
	Attempts []attempt    `json:"attempts"`
	Warnings []string     `json:"warnings"`
	Billing  call.Billing `json:"billing,omitempty"`
}

type attempt struct {
	Backend string          `json:"backend"`
	Reason  clichain.Reason `json:"reason"`
	Skipped bool            `json:"skipped"`
}

func answeredBy(resp *clichain.Response) answered {
	a := answered{resp.Backend, []attempt{}, append([]string{}, resp.Warnings...), resp.Billing}
	for _, one := range resp.Attempts {
		a.Attempts = append(a.Attempts, attempt{one.Backend, one.Reason, one.Skipped})
	}
	return a
}

// setAttempts tells of the backends that did not answer, such as "gemini=not_installed, codex=rate_limited".
func setAttempts(header http.Header, attempts []clichain.Attempt) {
	var list []string
	for _, a := range attempts {
		list = append(list, a.Backend+"="+string(a.Reason))
	}
	if len(list) > 0 {
		header.Set(attemptsHeader, strings.Join(list, ", "))
	}
}

// api is one of OpenAI's APIs that answer.
type api struct {
	read   func(body []byte, ignore []string) (*question, *apiError)
	params paramOf
	whole  func(q *question, resp *clichain.Response) any
	voice  func(q *question) voice
}

// answers makes the endpoint of an API.
func (h *handler) answers(a api) endpoint {
	return func(w *reply, r *http.Request) *apiError {
		leave, err := h.gate.enter()
		if err != nil {
			return err
		}
		defer leave()
		body, err := h.body(w, r)
		if err != nil {
			return err
		}
		q, err := a.read(body, h.IgnoredFields)
		if err != nil {
			return err
		}
		end, err := h.gate.begin(r.Context())
		if err != nil {
			return err
		}
		defer end()
		return h.answer(w, r.WithContext(h.traced(r)), a, q)
	}
}

// traced is the context of a request whose answer belongs to the trace of the program that asks.
func (h *handler) traced(r *http.Request) context.Context {
	ctx := call.WithTrace(r.Context(), r.Header.Get("traceparent"), r.Header.Get("tracestate"))
	if h.Trace == nil {
		return ctx
	}
	return h.Trace(ctx)
}

func (h *handler) answer(w *reply, r *http.Request, a api, q *question) *apiError {
	req, refused := permitted.Apply(q.req)
	if refused != nil {
		return failed(r.Context(), refused, a.params)
	}
	q.req = req
	names, remove, err := saveImages(q.images)
	if err != nil {
		return fault(http.StatusInternalServerError, typeServer, "no_temp", "images cannot be stored: %v", err)
	}
	defer remove()
	q.req.Options.Images = names
	if q.stream {
		return h.stream(w, r, a, q)
	}
	resp, err := h.backend.Complete(r.Context(), q.req)
	if err != nil {
		return failed(r.Context(), err, a.params)
	}
	w.answeredBy(resp.Backend, resp.Attempts)
	return w.json(a.whole(q, resp))
}

// answeredBy sets the headers of an answer.
func (w *reply) answeredBy(backend string, attempts []clichain.Attempt) {
	w.backend = backend
	w.Header().Set(backendHeader, backend)
	setAttempts(w.Header(), attempts)
}

// modelOf is the model of the library's request.
func modelOf(name string) string {
	if name == everyone {
		return ""
	}
	return name
}

// paramsOf makes a paramOf of the names of fields. That of an element keeps its place where both have it alike.
func paramsOf(names map[string]string) paramOf {
	return func(option string) (string, bool) {
		head, _, _ := strings.Cut(option, "[")
		param, ok := names[head]
		if param == head {
			param = option
		}
		return param, ok
	}
}
