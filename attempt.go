package clichain

import (
	"errors"
	"time"

	"github.com/clichain/clichain/call"
)

// attemptOf records a backend that did not answer.
func attemptOf(backend string, err error, took time.Duration) Attempt {
	a := Attempt{Backend: backend, Duration: took, Err: err}
	if chain, ok := err.(*ChainError); ok {
		a.Reason, a.Skipped = chain.Reason(), !chain.Tried()
		for _, inner := range chain.Attempts {
			a.Usage = a.Usage.Add(inner.Usage)
		}
		return a
	}
	be := call.AsError(backend, err)
	a.Reason, a.Usage = be.Reason, be.Usage
	a.Skipped = be.Stage == call.StageSkipped || be.Stage == "" && policy[be.Reason].skip
	return a
}

// attemptsOf is attemptOf after the backend's own earlier tries.
func attemptsOf(backend string, err error, took time.Duration) []Attempt {
	last := attemptOf(backend, err, took)
	be, ok := errors.AsType[*BackendError](err)
	if _, chain := err.(*ChainError); chain || !ok || len(be.Earlier) == 0 {
		return []Attempt{last}
	}
	for _, a := range be.Earlier {
		last.Duration -= a.Duration
	}
	return append(append([]Attempt{}, be.Earlier...), last)
}
