package otel

import (
	"errors"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// outcome is the result of a call. Either resp or reason is set.
type outcome struct {
	resp   *clichain.Response
	err    error // may be nil after a panic or if the reader stopped
	reason string
	usage  clichain.Usage // sum of all attempts
}

func outcomeOf(name string, resp *clichain.Response, err error) outcome {
	switch chain, ok := errors.AsType[*clichain.ChainError](err); {
	case ok:
		return outcome{err: err, reason: known(chain.Reason()), usage: chain.Usage()}
	case err != nil:
		be := call.AsError(name, err)
		usage := be.Usage
		for _, a := range be.Earlier {
			usage = usage.Add(a.Usage)
		}
		return outcome{err: err, reason: known(be.Reason), usage: usage}
	case resp == nil:
		return outcome{reason: string(clichain.ReasonBadOutput)}
	}
	return outcome{resp: resp, usage: resp.TotalUsage()}
}

// attempt returns the outcome as the outcome of one run, for a backend that reports no attempts. ok is false if it
// cannot be one run.
func (o outcome) attempt(name string) (clichain.Attempt, bool) {
	a := clichain.Attempt{Backend: name, Reason: clichain.Reason(o.reason), Usage: o.usage, Err: o.err}
	if o.resp != nil {
		a.Backend = o.resp.Backend
		return a, true
	}
	if be, ok := errors.AsType[*clichain.BackendError](o.err); ok {
		a.Skipped = be.Stage == call.StageSkipped
	}
	_, chain := errors.AsType[*clichain.ChainError](o.err)
	return a, !chain
}

// known returns a reason as a value of error.type. A reason that clichain does not define becomes errorOther, because
// it could contain anything.
func known(reason clichain.Reason) string {
	if slices.Contains(call.Reasons(), reason) {
		return string(reason)
	}
	return errorOther
}
