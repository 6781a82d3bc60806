package otel

import (
	"errors"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// outcome is what came of a call. One of resp and reason is set.
type outcome struct {
	resp   *clichain.Response
	err    error // may be nil where the reader left, or something panicked
	reason string
	usage  clichain.Usage // of all attempts
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

// attempt is the outcome as that of one run, for a backend that tells of none;
// false where it cannot have been one.
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

// known is a reason as a value of error.type. What a backend of another kind has
// made up itself could hold anything.
func known(reason clichain.Reason) string {
	if slices.Contains(call.Reasons(), reason) {
		return string(reason)
	}
	return errorOther
}
