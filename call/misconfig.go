package call

import (
	"errors"
	"fmt"
	"slices"
)

// misconfiguration marks an error in the settings of a backend. The request is valid, and other backends may serve it.
type misconfiguration struct{ error }

func (m misconfiguration) Unwrap() error { return m.error }

// ConfigError makes the error of every call of a backend whose settings are invalid. field names the setting, and err
// says what is wrong with it. The Reason is [ReasonBadOption]. A chain passes such a backend over.
func ConfigError(field string, err error) *Error {
	return &Error{
		Reason: ReasonBadOption, Option: field, Message: err.Error(), ExitCode: -1, Stage: StageSkipped,
		Err: misconfiguration{err},
	}
}

// ConfigErrorf is [ConfigError] of a formatted message.
func ConfigErrorf(field, format string, args ...any) *Error {
	return ConfigError(field, fmt.Errorf(format, args...))
}

// Misconfigured reports whether err is due to invalid settings alone, as [ConfigError] makes it, or is that of a chain
// whose own settings, or all of whose backends, are invalid.
func Misconfigured(err error) bool {
	chain := AsChainError(err)
	if chain != nil && chain.Cause == nil {
		return len(chain.Attempts) > 0 && !slices.ContainsFunc(chain.Attempts, Attempt.StopsChain)
	}
	if chain != nil {
		err = chain.Cause
	}
	_, ok := errors.AsType[misconfiguration](err)
	return ok
}

// StopsChain reports whether every backend would fail as the attempt did. It is false for a misconfigured backend.
func (a Attempt) StopsChain() bool { return a.Reason.StopsChain() && !Misconfigured(a.Err) }
