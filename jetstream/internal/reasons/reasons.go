// Package reasons groups the reasons of failures by what the queue does after them.
package reasons

import (
	"slices"

	"github.com/clichain/clichain"
)

// Set is a set of reasons.
type Set []clichain.Reason

var (
	// Permanent reasons are caused by the request: a later run fails too.
	Permanent = Set{clichain.ReasonBadRequest, clichain.ReasonBadOption, clichain.ReasonBadSession}
	// Limits are the reasons for which a backend reports when it is available again.
	Limits = Set{
		clichain.ReasonRateLimited, clichain.ReasonUsageLimit, clichain.ReasonCoolingDown, clichain.ReasonReserved,
	}
	// OfWorker are the reasons why a backend is skipped although another worker may have a backend that is not
	// skipped.
	OfWorker = Set{
		clichain.ReasonUnsupported, clichain.ReasonModelMismatch, clichain.ReasonNotInstalled, clichain.ReasonSuppressed,
		clichain.ReasonUnauthenticated, clichain.ReasonNestedSession, clichain.ReasonUntrustedDir, clichain.ReasonBadSession,
		clichain.ReasonUnconfined,
	}
	// OfRequest are the reasons in OfWorker that only this request causes: the worker may run the next job of the
	// class.
	OfRequest = Set{
		clichain.ReasonUnsupported, clichain.ReasonUntrustedDir, clichain.ReasonBadSession, clichain.ReasonPermissionRefused,
		clichain.ReasonUnconfined,
	}
	// ofMachine are caused by the machine: another worker may succeed.
	ofMachine = Set{
		clichain.ReasonSuppressed, clichain.ReasonNotInstalled, clichain.ReasonUnauthenticated, clichain.ReasonNestedSession,
		clichain.ReasonKilled, clichain.ReasonSpawn,
	}
)

// Has reports whether the set has a reason.
func (s Set) Has(r clichain.Reason) bool { return slices.Contains(s, r) }

// Limit returns the reason of a limit with a known end; empty if there is none.
func Limit(chain *clichain.ChainError) clichain.Reason {
	if chain.RetryAfter().IsZero() {
		return ""
	}
	for _, a := range chain.Attempts {
		if Limits.Has(a.Reason) {
			return a.Reason
		}
	}
	return ""
}

// Temporary reports whether a tried backend may answer the same request later or on another machine. If none was
// tried, it reports this for all. A skipped backend does not explain the failure of a tried one.
func Temporary(chain *clichain.ChainError) bool {
	return slices.ContainsFunc(chain.Attempts, func(a clichain.Attempt) bool {
		return a.Skipped != chain.Tried() && (a.Reason.Temporary() || ofMachine.Has(a.Reason))
	})
}
