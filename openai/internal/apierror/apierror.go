// Package apierror has the errors of OpenAI's API.
package apierror

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
)

// The types of errors.
const (
	TypeRequest   = "invalid_request_error"
	TypeServer    = "server_error"
	TypeRateLimit = "rate_limit_error"
	TypeQuota     = "insufficient_quota"
)

// Error is an error as the API writes it, with the status of its response.
type Error struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`

	Status     int            `json:"-"`
	RetryAfter time.Time      `json:"-"` // zero: unknown
	Permanent  bool           `json:"-"` // the same request would fail again
	Attempts   []call.Attempt `json:"-"` // before the request failed
	Anthropic  bool           `json:"-"` // the client expects the error of a missing URL as Anthropic's API writes it
}

// Body returns the body of the response.
func (e *Error) Body() any {
	if e.Anthropic {
		return map[string]any{"type": "error", "error": map[string]string{"type": "not_found_error", "message": e.Message}}
	}
	return map[string]any{"error": e}
}

// maxText limits the message and the param of an error, in bytes. Both can repeat text of the client, and each byte of
// it can become six in JSON.
const maxText = 4 << 10

// New returns an error of the server, or of its backend.
func New(status int, kind, code, format string, args ...any) *Error {
	return &Error{Message: clip(fmt.Sprintf(format, args...)), Type: kind, Code: OrNull(code), Status: status}
}

// clip shortens a text to maxText.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// Invalid returns an error of the client. Param is the field of the request; empty: none.
func Invalid(status int, param, code, format string, args ...any) *Error {
	err := New(status, TypeRequest, code, format, args...)
	err.Param, err.Permanent = OrNull(clip(param)), true
	return err
}

// Field returns the error of a field that the server does not accept.
func Field(field, code, format string, args ...any) *Error {
	return Invalid(http.StatusBadRequest, field, code, "%s: %s", field, fmt.Sprintf(format, args...))
}

// Label returns the code of the error, or its type if it has no code.
func (e *Error) Label() string {
	if e.Code == nil {
		return e.Type
	}
	return *e.Code
}

// OrNull returns a text that is null in JSON if it is empty.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
