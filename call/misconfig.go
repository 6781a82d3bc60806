package call

import (
	"cmp"
	"errors"
	"fmt"
)

// misconfiguration marks an error in the settings of a backend. The request is valid, and other backends may serve
// it.
type misconfiguration struct{ error }

func (m misconfiguration) Unwrap() error { return m.error }

// ConfigError returns the Error of every call of a backend with invalid settings. field is the invalid setting, and
// err describes the mistake. The Reason is [ReasonBadOption]. A chain skips the backend.
func ConfigError(field string, err error) *Error {
	return &Error{
		Reason: ReasonBadOption, Option: field, Message: err.Error(), ExitCode: -1, Stage: StageSkipped,
		Err: misconfiguration{err},
	}
}

// ConfigErrorf is ConfigError with a formatted message.
func ConfigErrorf(field, format string, args ...any) *Error {
	return ConfigError(field, fmt.Errorf(format, args...))
}

// Misconfigured reports whether invalid settings caused err. They caused each error of [ConfigError]. They caused the
// error of a chain if it has such a Cause, or otherwise if its Reason is that of a misconfigured backend.
func Misconfigured(err error) bool {
	if chain := AsChainError(err); chain != nil {
		return Misconfigured(cmp.Or(chain.Cause, chain.decisive().Err))
	}
	_, ok := errors.AsType[misconfiguration](err)
	return ok
}

// StopsChain reports whether every other backend would fail in the same way. It is false for a misconfigured backend.
func (a Attempt) StopsChain() bool { return a.Reason.StopsChain() && !Misconfigured(a.Err) }
