package call

import "slices"

// Reason is the class of a failure or of a skip. The zero value means "none".
// It is a string so that it reads well in logs and survives JSON; compare
// errors with the sentinels ([ErrTimeout] and so on) through [errors.Is].
type Reason string

// The reasons, in the groups of the decision table in docs/reference/errors.md.
const (
	// Skips: the backend was not started.
	ReasonSuppressed    Reason = "suppressed"     // SKIP_CLI or an alias names it
	ReasonNotInstalled  Reason = "not_installed"  // no such program on PATH
	ReasonUnsupported   Reason = "unsupported"    // the backend cannot honour a field of the request
	ReasonModelMismatch Reason = "model_mismatch" // the model belongs to another backend
	ReasonCoolingDown   Reason = "cooling_down"   // the backend is in its cooldown after a failure
	ReasonBudgetSpent   Reason = "budget_spent"   // no time was left to try it

	// The backend or the machine is not set up for the call.
	ReasonUnauthenticated   Reason = "unauthenticated"
	ReasonUntrustedDir      Reason = "untrusted_dir"
	ReasonPermissionRefused Reason = "permission_refused"
	ReasonNestedSession     Reason = "nested_session"

	// Limits and money.
	ReasonRateLimited Reason = "rate_limited" // requests per minute and the like
	ReasonUsageLimit  Reason = "usage_limit"  // the plan's window is used up
	ReasonBilling     Reason = "billing"

	// The service or the way to it.
	ReasonOverloaded  Reason = "overloaded"
	ReasonServerError Reason = "server_error"
	ReasonNetwork     Reason = "network"

	// Time.
	ReasonTimeout            Reason = "timeout"
	ReasonIdleTimeout        Reason = "idle_timeout"
	ReasonFirstOutputTimeout Reason = "first_output_timeout"

	// The request.
	ReasonBadModel        Reason = "bad_model"
	ReasonContextOverflow Reason = "context_overflow"
	ReasonBadRequest      Reason = "bad_request"
	ReasonBadOption       Reason = "bad_option"
	ReasonBadSession      Reason = "bad_session" // there is no such session to continue

	// The run.
	ReasonBadOutput   Reason = "bad_output"   // it ended without a readable answer
	ReasonEmpty       Reason = "empty"        // it succeeded with an empty answer
	ReasonExit        Reason = "exit"         // non-zero exit status without a known explanation
	ReasonKilled      Reason = "killed"       // a signal that clichain did not send
	ReasonOutputLimit Reason = "output_limit" // more output than Config.MaxOutput
	ReasonSpawn       Reason = "spawn"        // the program is there but did not start

	ReasonCanceled Reason = "canceled" // the caller canceled its context, or a Registry the run
)

// Reasons returns all reasons, in the order of the constants, as a slice that
// the caller may change.
func Reasons() []Reason {
	return []Reason{
		ReasonSuppressed, ReasonNotInstalled, ReasonUnsupported, ReasonModelMismatch, ReasonCoolingDown,
		ReasonBudgetSpent, ReasonUnauthenticated, ReasonUntrustedDir, ReasonPermissionRefused, ReasonNestedSession,
		ReasonRateLimited, ReasonUsageLimit, ReasonBilling, ReasonOverloaded, ReasonServerError, ReasonNetwork,
		ReasonTimeout, ReasonIdleTimeout, ReasonFirstOutputTimeout, ReasonBadModel, ReasonContextOverflow,
		ReasonBadRequest, ReasonBadOption, ReasonBadSession, ReasonBadOutput, ReasonEmpty, ReasonExit, ReasonKilled,
		ReasonOutputLimit, ReasonSpawn, ReasonCanceled,
	}
}

// temporary are the reasons that pass by themselves.
var temporary = []Reason{
	ReasonCoolingDown, ReasonBudgetSpent, ReasonRateLimited, ReasonUsageLimit, ReasonOverloaded, ReasonServerError,
	ReasonNetwork, ReasonTimeout, ReasonIdleTimeout, ReasonFirstOutputTimeout,
}

// Temporary reports whether the same request may go well later without anybody
// having changed anything. It is false where that is not known, as for
// [ReasonExit].
func (r Reason) Temporary() bool { return slices.Contains(temporary, r) }

// StopsChain reports whether a chain asks no further backend after a failure with the reason, unless its policy says
// otherwise: the request is at fault, or its caller has canceled it.
func (r Reason) StopsChain() bool {
	return r == ReasonBadRequest || r == ReasonBadOption || r == ReasonBadSession || r == ReasonCanceled
}

// sentinel is the error value of a Reason, the target of [errors.Is].
type sentinel Reason

// Err returns the sentinel of the reason, for [errors.Is].
func (r Reason) Err() error { return sentinel(r) }

func (s sentinel) Error() string { return "clichain: " + string(s) }

// One sentinel for each [Reason]. An [*Error] matches the one of its Reason; the
// error of a chain matches those of all its attempts.
var (
	ErrSuppressed         error = sentinel(ReasonSuppressed)
	ErrNotInstalled       error = sentinel(ReasonNotInstalled)
	ErrUnsupported        error = sentinel(ReasonUnsupported)
	ErrModelMismatch      error = sentinel(ReasonModelMismatch)
	ErrCoolingDown        error = sentinel(ReasonCoolingDown)
	ErrBudgetSpent        error = sentinel(ReasonBudgetSpent)
	ErrUnauthenticated    error = sentinel(ReasonUnauthenticated)
	ErrUntrustedDir       error = sentinel(ReasonUntrustedDir)
	ErrPermissionRefused  error = sentinel(ReasonPermissionRefused)
	ErrNestedSession      error = sentinel(ReasonNestedSession)
	ErrRateLimited        error = sentinel(ReasonRateLimited)
	ErrUsageLimit         error = sentinel(ReasonUsageLimit)
	ErrBilling            error = sentinel(ReasonBilling)
	ErrOverloaded         error = sentinel(ReasonOverloaded)
	ErrServerError        error = sentinel(ReasonServerError)
	ErrNetwork            error = sentinel(ReasonNetwork)
	ErrTimeout            error = sentinel(ReasonTimeout)
	ErrIdleTimeout        error = sentinel(ReasonIdleTimeout)
	ErrFirstOutputTimeout error = sentinel(ReasonFirstOutputTimeout)
	ErrBadModel           error = sentinel(ReasonBadModel)
	ErrContextOverflow    error = sentinel(ReasonContextOverflow)
	ErrBadRequest         error = sentinel(ReasonBadRequest)
	ErrBadOption          error = sentinel(ReasonBadOption)
	ErrBadSession         error = sentinel(ReasonBadSession)
	ErrBadOutput          error = sentinel(ReasonBadOutput)
	ErrEmpty              error = sentinel(ReasonEmpty)
	ErrExit               error = sentinel(ReasonExit)
	ErrKilled             error = sentinel(ReasonKilled)
	ErrOutputLimit        error = sentinel(ReasonOutputLimit)
	ErrSpawn              error = sentinel(ReasonSpawn)
	ErrCanceled           error = sentinel(ReasonCanceled)
)
