package cassette

import (
	"github.com/clichain/clichain/call"
)

// Failure is the error of a call: that of a backend, or the parts of that of a chain.
type Failure struct {
	Error    *call.Error    `json:"error,omitempty"` // nil: the error of a chain
	Attempts []call.Attempt `json:"attempts,omitempty"`
	Cause    *call.Error    `json:"cause,omitempty"`
	Note     string         `json:"note,omitempty"`
}

// FailureOf returns the failure of a backend with that name.
func FailureOf(backend string, err error) *Failure {
	chain := call.AsChainError(err)
	if chain == nil {
		return &Failure{Error: plain(backend, err)}
	}
	f := &Failure{Attempts: chain.Attempts, Note: chain.Note}
	if chain.Cause != nil {
		f.Cause = plain("", chain.Cause)
	}
	return f
}

// plain returns an error with a message, because the error that it wraps is not stored.
func plain(backend string, err error) *call.Error {
	be := *call.AsError(backend, err)
	if be.Message == "" {
		be.Message = be.Detail()
	}
	return &be
}

// Err returns the error.
func (f *Failure) Err() error {
	if f.Error != nil {
		return f.Error
	}
	chain := &call.ChainError{Attempts: f.Attempts, Note: f.Note}
	if f.Cause != nil {
		chain.Cause = f.Cause
	}
	return chain
}
