package call

import "slices"

// Reason is the class of a failure or of a skip. The zero value means that there is none. It is a string that reads
// well in logs and can be stored as JSON. Compare errors with the sentinels, such as [ErrTimeout], through
// [errors.Is].
type Reason string

// The reasons, in the groups of the decision table in docs/reference/errors.md.
const (
	// Skips: the backend was not started.
	ReasonSuppressed    Reason = "suppressed"     // SKIP_CLI or an alias turns the backend off
	ReasonNotInstalled  Reason = "not_installed"  // no such program on PATH
	ReasonUnsupported   Reason = "unsupported"    // the backend does not support a field of the request
	ReasonModelMismatch Reason = "model_mismatch" // the model belongs to another backend
	ReasonCoolingDown   Reason = "cooling_down"   // the backend is in cooldown after a failure
	ReasonReserved      Reason = "reserved"       // the rest of a usage window is reserved
	ReasonBudgetSpent   Reason = "budget_spent"   // too little time was left for an attempt

	// The backend or the machine is not set up for the call.
	ReasonUnauthenticated   Reason = "unauthenticated"
	ReasonUntrustedDir      Reason = "untrusted_dir"
	ReasonPermissionRefused Reason = "permission_refused"
	ReasonNestedSession     Reason = "nested_session"
	ReasonUnconfined        Reason = "unconfined" // the CLI could not be confined as Config.Confine demands

	// Limits and payment.
	ReasonRateLimited Reason = "rate_limited" // such as requests per minute
	ReasonUsageLimit  Reason = "usage_limit"  // the usage window of the plan is exhausted
	ReasonBilling     Reason = "billing"

	// The service or the network.
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
	ReasonBadSession      Reason = "bad_session" // the session to continue does not exist

	// The run.
	ReasonBadOutput   Reason = "bad_output"   // the output had no valid answer
	ReasonEmpty       Reason = "empty"        // the answer had no text
	ReasonExit        Reason = "exit"         // non-zero exit code without a known explanation
	ReasonKilled      Reason = "killed"       // by a signal that clichain did not send
	ReasonOutputLimit Reason = "output_limit" // more output than Config.MaxOutput
	ReasonSpawn       Reason = "spawn"        // the program exists but did not start
	ReasonRejected    Reason = "rejected"     // a check, such as ChainConfig.Accept, refused the answer

	ReasonCanceled Reason = "canceled" // the caller canceled the context, or a Registry stopped the run
)

// Reasons returns all reasons in the order of the constants. The caller may modify the slice.
func Reasons() []Reason {
	return []Reason{
		ReasonSuppressed, ReasonNotInstalled, ReasonUnsupported, ReasonModelMismatch, ReasonCoolingDown,
		ReasonReserved, ReasonBudgetSpent, ReasonUnauthenticated, ReasonUntrustedDir, ReasonPermissionRefused,
		ReasonNestedSession, ReasonUnconfined,
		ReasonRateLimited, ReasonUsageLimit, ReasonBilling, ReasonOverloaded, ReasonServerError, ReasonNetwork,
		ReasonTimeout, ReasonIdleTimeout, ReasonFirstOutputTimeout, ReasonBadModel, ReasonContextOverflow,
		ReasonBadRequest, ReasonBadOption, ReasonBadSession, ReasonBadOutput, ReasonEmpty, ReasonExit, ReasonKilled,
		ReasonOutputLimit, ReasonSpawn, ReasonRejected, ReasonCanceled,
	}
}

// temporary lists the reasons that disappear without any action.
var temporary = []Reason{
	ReasonCoolingDown, ReasonReserved, ReasonBudgetSpent, ReasonRateLimited, ReasonUsageLimit, ReasonOverloaded,
	ReasonServerError, ReasonNetwork, ReasonTimeout, ReasonIdleTimeout, ReasonFirstOutputTimeout,
}

// Temporary reports whether the same request may succeed later without any action. It is false if that is unknown, as
// for [ReasonExit].
func (r Reason) Temporary() bool { return slices.Contains(temporary, r) }

// StopsChain reports whether a chain asks no other backend after a failure with this reason: the request is invalid,
// or its caller canceled it. A policy of the chain can override it.
func (r Reason) StopsChain() bool {
	return r == ReasonBadRequest || r == ReasonBadOption || r == ReasonBadSession || r == ReasonCanceled
}

// sentinel is the error value of a Reason, for [errors.Is].
type sentinel Reason

// Err returns the sentinel of the reason, for [errors.Is].
func (r Reason) Err() error { return sentinel(r) }

func (s sentinel) Error() string { return "clichain: " + string(s) }

// The sentinel of each [Reason]. [errors.Is] matches an [*Error] with the sentinel of its Reason, and a [*ChainError]
// with those of all its attempts.
var (
	ErrSuppressed         error = sentinel(ReasonSuppressed)
	ErrNotInstalled       error = sentinel(ReasonNotInstalled)
	ErrUnsupported        error = sentinel(ReasonUnsupported)
	ErrModelMismatch      error = sentinel(ReasonModelMismatch)
	ErrCoolingDown        error = sentinel(ReasonCoolingDown)
	ErrReserved           error = sentinel(ReasonReserved)
	ErrBudgetSpent        error = sentinel(ReasonBudgetSpent)
	ErrUnauthenticated    error = sentinel(ReasonUnauthenticated)
	ErrUntrustedDir       error = sentinel(ReasonUntrustedDir)
	ErrPermissionRefused  error = sentinel(ReasonPermissionRefused)
	ErrNestedSession      error = sentinel(ReasonNestedSession)
	ErrUnconfined         error = sentinel(ReasonUnconfined)
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
	ErrRejected           error = sentinel(ReasonRejected)
	ErrCanceled           error = sentinel(ReasonCanceled)
)
