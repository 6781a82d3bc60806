package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/request"
	"github.com/clichain/clichain/permit"
)

// permissions allow nothing but an answer. The limit of the body replaces that of permit, and the handler itself writes
// the files with images.
var permissions = permit.Permissions{MaxBytes: -1}

// answerer answers requests with a backend.
type answerer struct {
	config  *Config
	backend clichain.Backend
	limiter *limiter
	ignored *ignoredFields
	models  *models
	answers *answers
}

// maxMisfits limits the answers to one request that do not match its schema, over all backends.
const maxMisfits = 2

// endpoint returns the endpoint of an API.
func (a *answerer) endpoint(api *api) endpoint {
	return func(w *reply, r *http.Request) *apierror.Error {
		leave, err := a.limiter.admit()
		if err != nil {
			return err
		}
		defer leave()
		body, err := a.readBody(w, r)
		if err != nil {
			return err
		}
		policy := request.Policy{Strict: a.config.Strict, Setting: a.config.fieldName("Strict"), Recall: a.answers.recall}
		req, err := api.parse(body, &policy)
		a.ignored.report(w, policy.Ignored())
		if err != nil {
			return err
		}
		req.ID, req.Created = newID(), time.Now()
		release, err := a.limiter.acquire(r.Context())
		if err != nil {
			return err
		}
		defer release()
		ctx := a.withTrace(r)
		req.Model = a.models.resolve(ctx, req.Model)
		if req.Schema != nil {
			ctx = chainview.WithMisfits(ctx, maxMisfits)
		}
		return a.answer(ctx, w, api, req)
	}
}

// readBody reads the body of a request.
func (a *answerer) readBody(w *reply, r *http.Request) ([]byte, *apierror.Error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, apierror.Invalid(http.StatusUnsupportedMediaType, "", "unsupported_media_type",
			"send Content-Type: application/json, not %q", kind)
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, a.config.MaxBodyBytes))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, apierror.Invalid(http.StatusRequestEntityTooLarge, "", "request_too_large",
			"the body is larger than %s", sizeText(a.config.MaxBodyBytes))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		w.timedOut = true
		return nil, apierror.Invalid(http.StatusBadRequest, "", "unreadable_body",
			"the body did not arrive within %v", readLimit)
	}
	if err != nil {
		return nil, apierror.Invalid(http.StatusBadRequest, "", "unreadable_body", "the body cannot be read: %v", err)
	}
	// From now on, reading only notices that the client leaves.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return data, nil
}

func sizeText(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// withTrace returns the request's context with the trace of its client.
func (a *answerer) withTrace(r *http.Request) context.Context {
	ctx := call.WithTrace(r.Context(), r.Header.Get("traceparent"), r.Header.Get("tracestate"))
	if a.config.Trace == nil {
		return ctx
	}
	return a.config.Trace(ctx)
}

func (a *answerer) answer(ctx context.Context, w *reply, api *api, req *request.Request) *apierror.Error {
	allowed, err := permissions.Apply(req.Request)
	if err != nil {
		return a.callError(ctx, err, api, req)
	}
	req.Request = allowed
	names, remove, err := saveImages(req.Images)
	if err != nil {
		return apierror.New(http.StatusInternalServerError, apierror.TypeServer, "no_temp",
			"images cannot be stored: %v", err)
	}
	defer remove()
	req.Options.Images = names
	if req.Stream {
		return a.stream(ctx, w, api, req)
	}
	resp, err := a.backend.Complete(ctx, req.Request)
	if err != nil {
		return a.callError(ctx, err, api, req)
	}
	w.answeredBy(resp.Backend, resp.Attempts)
	resp = newCutter(req.Stop).response(resp)
	a.answers.keep(req, resp)
	return w.json(api.body(req, resp))
}
