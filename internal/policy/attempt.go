package policy

import (
	"errors"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
)

// AttemptOf returns the record of a failed or skipped backend.
func AttemptOf(backend string, err error, took time.Duration) call.Attempt {
	a := call.Attempt{Backend: backend, Duration: took, Err: err}
	if chain := call.AsChainError(err); chain != nil {
		a.Reason, a.Skipped, a.Usage = chain.Reason(), !chain.Tried(), chain.Usage()
		return a
	}
	be := call.AsError(backend, err)
	a.Reason, a.Usage = be.Reason, be.Usage
	a.Skipped = be.Stage == call.StageSkipped || be.Stage == "" && Default[be.Reason].Skip
	return a
}

// AttemptsOf returns the earlier attempts of the backend, followed by the result of [AttemptOf].
func AttemptsOf(backend string, err error, took time.Duration) []call.Attempt {
	last := AttemptOf(backend, err, took)
	be, ok := errors.AsType[*call.Error](err)
	if call.AsChainError(err) != nil || !ok || len(be.Earlier) == 0 {
		return []call.Attempt{last}
	}
	for _, a := range be.Earlier {
		last.Duration = max(last.Duration-a.Duration, 0)
	}
	return append(slices.Clone(be.Earlier), last)
}
