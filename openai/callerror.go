package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/request"
)

// row is the error of a reason.
type row struct {
	status     int
	kind, code string // empty: the reason
}

// rows are the errors of all reasons. A CLI without a login is not 401, because that status means a wrong token.
var rows = map[clichain.Reason]row{
	clichain.ReasonSuppressed:         {http.StatusServiceUnavailable, apierror.TypeServer, ""},
	clichain.ReasonNotInstalled:       {http.StatusServiceUnavailable, apierror.TypeServer, ""},
	clichain.ReasonUnsupported:        {http.StatusBadRequest, apierror.TypeRequest, "unsupported_parameter"},
	clichain.ReasonModelMismatch:      {http.StatusNotFound, apierror.TypeRequest, "model_not_found"},
	clichain.ReasonCoolingDown:        {http.StatusServiceUnavailable, apierror.TypeServer, ""},
	clichain.ReasonReserved:           {http.StatusTooManyRequests, apierror.TypeQuota, "insufficient_quota"},
	clichain.ReasonBudgetSpent:        {http.StatusGatewayTimeout, apierror.TypeServer, ""},
	clichain.ReasonUnauthenticated:    {http.StatusServiceUnavailable, apierror.TypeServer, ""},
	clichain.ReasonUntrustedDir:       {http.StatusServiceUnavailable, apierror.TypeServer, ""},
	clichain.ReasonPermissionRefused:  {http.StatusServiceUnavailable, apierror.TypeServer, ""},
	clichain.ReasonNestedSession:      {http.StatusServiceUnavailable, apierror.TypeServer, ""},
	clichain.ReasonUnconfined:         {http.StatusServiceUnavailable, apierror.TypeServer, ""},
	clichain.ReasonRateLimited:        {http.StatusTooManyRequests, apierror.TypeRateLimit, "rate_limit_exceeded"},
	clichain.ReasonUsageLimit:         {http.StatusTooManyRequests, apierror.TypeQuota, "insufficient_quota"},
	clichain.ReasonBilling:            {http.StatusTooManyRequests, apierror.TypeQuota, "insufficient_quota"},
	clichain.ReasonOverloaded:         {http.StatusServiceUnavailable, apierror.TypeServer, ""},
	clichain.ReasonServerError:        {http.StatusBadGateway, apierror.TypeServer, ""},
	clichain.ReasonNetwork:            {http.StatusBadGateway, apierror.TypeServer, ""},
	clichain.ReasonTimeout:            {http.StatusGatewayTimeout, apierror.TypeServer, ""},
	clichain.ReasonIdleTimeout:        {http.StatusGatewayTimeout, apierror.TypeServer, ""},
	clichain.ReasonFirstOutputTimeout: {http.StatusGatewayTimeout, apierror.TypeServer, ""},
	clichain.ReasonBadModel:           {http.StatusNotFound, apierror.TypeRequest, "model_not_found"},
	clichain.ReasonContextOverflow:    {http.StatusBadRequest, apierror.TypeRequest, "context_length_exceeded"},
	clichain.ReasonBadRequest:         {http.StatusBadRequest, apierror.TypeRequest, ""},
	clichain.ReasonBadOption:          {http.StatusBadRequest, apierror.TypeRequest, ""},
	clichain.ReasonBadSession:         {http.StatusBadRequest, apierror.TypeRequest, ""},
	clichain.ReasonBadOutput:          {http.StatusBadGateway, apierror.TypeServer, ""},
	clichain.ReasonEmpty:              {http.StatusBadGateway, apierror.TypeServer, ""},
	clichain.ReasonExit:               {http.StatusBadGateway, apierror.TypeServer, ""},
	clichain.ReasonKilled:             {http.StatusBadGateway, apierror.TypeServer, ""},
	clichain.ReasonOutputLimit:        {http.StatusBadGateway, apierror.TypeServer, ""},
	clichain.ReasonSpawn:              {http.StatusBadGateway, apierror.TypeServer, ""},
	clichain.ReasonRejected:           {http.StatusBadGateway, apierror.TypeServer, ""},
	clichain.ReasonCanceled:           {http.StatusServiceUnavailable, apierror.TypeServer, ""},
}

// mismatch is the error of a request whose schema no answer matched. Every client would repeat a request that fails
// with 5xx, and each repetition asks the model twice.
var mismatch = row{http.StatusBadRequest, apierror.TypeRequest, "schema_mismatch"}

// callError returns the error of a call that no backend answered.
func (a *answerer) callError(ctx context.Context, err error, api *api, req *request.Request) *apierror.Error {
	if ctx.Err() != nil {
		return shutdownError(ctx)
	}
	cause, attempts := leading(err)
	r, known := rows[cause.Reason]
	if !known {
		r = row{http.StatusBadGateway, apierror.TypeServer, ""}
	}
	message := err.Error()
	param, ofRequest := api.param(cause.Option)
	switch {
	case a.unknownModel(req.Model, attempts):
		r, param, cause.Reason = rows[clichain.ReasonBadModel], "model", clichain.ReasonBadModel
		message = fmt.Sprintf("no CLI here has the model %q; see /v1/models and %s: %v", req.Model,
			a.config.fieldName("ModelAliases"), err)
	case cause.Reason == clichain.ReasonBadOption && !ofRequest: // a setting of the backend
		r = row{http.StatusServiceUnavailable, apierror.TypeServer, ""}
	case chainview.MisfitsOf(ctx).Spent():
		r = mismatch
	}
	e := apierror.New(r.status, r.kind, cmp.Or(r.code, string(cause.Reason)), "%s", message)
	e.Param, e.Attempts = apierror.OrNull(param), attempts
	e.Permanent = !cause.Reason.Temporary()
	e.RetryAfter = cause.RetryAfter
	if chain, ok := errors.AsType[*clichain.ChainError](err); ok && e.RetryAfter.IsZero() {
		e.RetryAfter = chain.RetryAfter()
	}
	return e
}

// unknownModel reports whether no installed CLI has the model of a request, if that model addresses no backend. A CLI
// that is missing or turned off does not count.
func (a *answerer) unknownModel(model string, attempts []clichain.Attempt) bool {
	unknown := false
	for _, attempt := range attempts {
		switch attempt.Reason {
		case clichain.ReasonModelMismatch, clichain.ReasonBadModel:
			unknown = true
		case clichain.ReasonNotInstalled, clichain.ReasonSuppressed:
		default:
			return false
		}
	}
	return unknown && model != "" && !a.models.addressed(model)
}

// leading returns the failure that determines the status. A failure of another attempt takes precedence over
// model_mismatch.
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

// shutdownError returns the error of a request whose context has ended. A client reads it only when the server shuts
// down; else the client has left.
func shutdownError(ctx context.Context) *apierror.Error {
	return apierror.New(http.StatusServiceUnavailable, apierror.TypeServer, "shutting_down", "%v", context.Cause(ctx))
}
