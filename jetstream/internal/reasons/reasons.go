// Package reasons sorts the reasons of failures by what may follow them in a queue.
package reasons

import (
	"slices"

	"github.com/clichain/clichain"
)

// Set is a set of reasons.
type Set []clichain.Reason

var (
	// Permanent lie in the request: a later run fails, too.
	Permanent = Set{clichain.ReasonBadRequest, clichain.ReasonBadOption, clichain.ReasonBadSession}
	// Limits are those for which a backend says when it is available again.
	Limits = Set{clichain.ReasonRateLimited, clichain.ReasonUsageLimit, clichain.ReasonCoolingDown}
	// OfWorker are those for which a backend is skipped although another worker may have one that is not.
	OfWorker = Set{
		clichain.ReasonUnsupported, clichain.ReasonModelMismatch, clichain.ReasonNotInstalled, clichain.ReasonSuppressed,
		clichain.ReasonUnauthenticated, clichain.ReasonNestedSession, clichain.ReasonUntrustedDir, clichain.ReasonBadSession,
	}
	// OfRequest are those of OfWorker that lie in this one request: the worker may run the next job of the class.
	OfRequest = Set{
		clichain.ReasonUnsupported, clichain.ReasonUntrustedDir, clichain.ReasonBadSession, clichain.ReasonPermissionRefused,
	}
	// ofMachine lie in the machine: a run by another worker may succeed.
	ofMachine = Set{
		clichain.ReasonSuppressed, clichain.ReasonNotInstalled, clichain.ReasonUnauthenticated, clichain.ReasonNestedSession,
		clichain.ReasonKilled, clichain.ReasonSpawn,
	}
)

// Has reports whether the set has a reason.
func (s Set) Has(r clichain.Reason) bool { return slices.Contains(s, r) }

// Limit returns the reason of a limit whose end is known; empty where there is none.
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

// Temporary reports whether a backend that was tried may answer the same request later or on another machine; where
// none was tried, whether any may. A skipped backend says nothing about the failure of one that was tried.
func Temporary(chain *clichain.ChainError) bool {
	return slices.ContainsFunc(chain.Attempts, func(a clichain.Attempt) bool {
		return a.Skipped != chain.Tried() && (a.Reason.Temporary() || ofMachine.Has(a.Reason))
	})
}
