package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/clichain/clichain"
)

// The types of OpenAI's errors.
const (
	typeRequest   = "invalid_request_error"
	typeServer    = "server_error"
	typeRateLimit = "rate_limit_error"
	typeQuota     = "insufficient_quota"
)

// apiError is an error in OpenAI's shape, and the status that goes with it.
type apiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`

	status     int
	retryAfter time.Time // zero: nothing is known of it
	useless    bool      // the same request would fail again
	attempts   []clichain.Attempt
}

// code is the error's code, for the log.
func (e *apiError) code() string {
	if e.Code == nil {
		return e.Type
	}
	return *e.Code
}

// mistake is an error of the client's.
func mistake(status int, param, code, format string, args ...any) *apiError {
	err := fault(status, typeRequest, code, format, args...)
	err.Param, err.useless = orNull(param), true
	return err
}

// refusal is a mistake in a field.
func refusal(field, code, format string, args ...any) *apiError {
	return mistake(http.StatusBadRequest, field, code, "%s: %s", field, fmt.Sprintf(format, args...))
}

func fault(status int, kind, code, format string, args ...any) *apiError {
	return &apiError{Message: fmt.Sprintf(format, args...), Type: kind, Code: orNull(code), status: status}
}

// orNull is a text that is null in JSON where it is empty.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// patience is the longest time that the official clients wait before they ask again.
const patience = time.Minute

// write sends the error. The official clients ask again after some statuses; where that is of no use they are told so.
func (e *apiError) write(w http.ResponseWriter) {
	wait := time.Until(e.retryAfter)
	if !e.retryAfter.IsZero() {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(wait.Round(time.Second).Seconds()))))
	}
	if e.useless || wait > patience {
		w.Header().Set("X-Should-Retry", "false")
	}
	setAttempts(w.Header(), e.attempts)
	w.Header().Set("Content-Type", "application/json")
	boundWriting(w)
	w.WriteHeader(e.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": e}) // nobody is left to tell
}

// row is how a reason is told to a client.
type row struct {
	status     int
	kind, code string // without a code: the reason
}

// rows have each reason of docs/errors.md. A CLI without a login is not 401, which would say that the token is wrong.
var rows = map[clichain.Reason]row{
	clichain.ReasonSuppressed:         {http.StatusServiceUnavailable, typeServer, ""},
	clichain.ReasonNotInstalled:       {http.StatusServiceUnavailable, typeServer, ""},
	clichain.ReasonUnsupported:        {http.StatusBadRequest, typeRequest, "unsupported_parameter"},
	clichain.ReasonModelMismatch:      {http.StatusNotFound, typeRequest, "model_not_found"},
	clichain.ReasonCoolingDown:        {http.StatusServiceUnavailable, typeServer, ""},
	clichain.ReasonBudgetSpent:        {http.StatusGatewayTimeout, typeServer, ""},
	clichain.ReasonUnauthenticated:    {http.StatusServiceUnavailable, typeServer, ""},
	clichain.ReasonUntrustedDir:       {http.StatusServiceUnavailable, typeServer, ""},
	clichain.ReasonPermissionRefused:  {http.StatusServiceUnavailable, typeServer, ""},
	clichain.ReasonNestedSession:      {http.StatusServiceUnavailable, typeServer, ""},
	clichain.ReasonRateLimited:        {http.StatusTooManyRequests, typeRateLimit, "rate_limit_exceeded"},
	clichain.ReasonUsageLimit:         {http.StatusTooManyRequests, typeQuota, "insufficient_quota"},
	clichain.ReasonBilling:            {http.StatusTooManyRequests, typeQuota, "insufficient_quota"},
	clichain.ReasonOverloaded:         {http.StatusServiceUnavailable, typeServer, ""},
	clichain.ReasonServerError:        {http.StatusBadGateway, typeServer, ""},
	clichain.ReasonNetwork:            {http.StatusBadGateway, typeServer, ""},
	clichain.ReasonTimeout:            {http.StatusGatewayTimeout, typeServer, ""},
	clichain.ReasonIdleTimeout:        {http.StatusGatewayTimeout, typeServer, ""},
	clichain.ReasonFirstOutputTimeout: {http.StatusGatewayTimeout, typeServer, ""},
	clichain.ReasonBadModel:           {http.StatusNotFound, typeRequest, "model_not_found"},
	clichain.ReasonContextOverflow:    {http.StatusBadRequest, typeRequest, "context_length_exceeded"},
	clichain.ReasonBadRequest:         {http.StatusBadRequest, typeRequest, ""},
	clichain.ReasonBadOption:          {http.StatusBadRequest, typeRequest, ""},
	clichain.ReasonBadSession:         {http.StatusBadRequest, typeRequest, ""},
	clichain.ReasonBadOutput:          {http.StatusBadGateway, typeServer, ""},
	clichain.ReasonEmpty:              {http.StatusBadGateway, typeServer, ""},
	clichain.ReasonExit:               {http.StatusBadGateway, typeServer, ""},
	clichain.ReasonKilled:             {http.StatusBadGateway, typeServer, ""},
	clichain.ReasonOutputLimit:        {http.StatusBadGateway, typeServer, ""},
	clichain.ReasonSpawn:              {http.StatusBadGateway, typeServer, ""},
	clichain.ReasonCanceled:           {http.StatusServiceUnavailable, typeServer, ""},
}

// paramOf names the field of an API that a field of the library's request was made of.
type paramOf func(option string) (param string, ok bool)

// failed is the error of a call that no backend answered.
func failed(ctx context.Context, err error, params paramOf) *apiError {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	cause, attempts := leading(err)
	r, known := rows[cause.Reason]
	if !known {
		r = row{http.StatusBadGateway, typeServer, ""}
	}
	param, ofRequest := params(cause.Option)
	if cause.Reason == clichain.ReasonBadOption && !ofRequest { // whoever set the backend up is to blame
		r = row{http.StatusServiceUnavailable, typeServer, ""}
	}
	if r.code == "" {
		r.code = string(cause.Reason)
	}
	api := fault(r.status, r.kind, r.code, "%s", err)
	api.Param, api.attempts = orNull(param), attempts
	api.useless = !cause.Reason.Temporary()
	api.retryAfter = cause.RetryAfter
	if chain, ok := errors.AsType[*clichain.ChainError](err); ok && api.retryAfter.IsZero() {
		api.retryAfter = chain.RetryAfter()
	}
	return api
}

// leading is the failure that decides about the status. That a model belongs to another backend says less than what
// that one has said.
func leading(err error) (cause clichain.BackendError, attempts []clichain.Attempt) {
	chain, ok := errors.AsType[*clichain.ChainError](err)
	if !ok {
		if be, ok := errors.AsType[*clichain.BackendError](err); ok {
			return *be, nil
		}
		return clichain.BackendError{Reason: clichain.ReasonExit}, nil
	}
	reason := chain.Reason()
	for _, a := range chain.Attempts {
		if reason == clichain.ReasonModelMismatch {
			reason = a.Reason
		}
	}
	if be, ok := chain.Cause.(*clichain.BackendError); ok && be.Reason == reason {
		return *be, chain.Attempts
	}
	for _, a := range chain.Attempts {
		if be, ok := errors.AsType[*clichain.BackendError](a.Err); ok && a.Reason == reason {
			cause = *be
		}
	}
	cause.Reason = reason
	return cause, chain.Attempts
}

// ended is the error of a request whose context has ended: nobody reads it, unless the server ended it.
func ended(ctx context.Context) *apiError {
	return fault(http.StatusServiceUnavailable, typeServer, "shutting_down", "%v", context.Cause(ctx))
}
