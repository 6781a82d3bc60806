package clichain

import "github.com/clichain/clichain/call"

// The types of a call. Package call declares them, below all packages that work with them.
type (
	// Request is one question: Messages, and what is optional, such as Model, Access, Dir, Session, Schema and Options.
	// It is a plain value that survives JSON. [Prompt] makes one of a text. The zero value has no message and is
	// refused with bad_request.
	Request = call.Request

	// Message is one turn of a conversation: a Role and its Content.
	Message = call.Message

	// Role says who wrote a [Message]: [RoleSystem], [RoleUser] or [RoleAssistant]. The zero value is refused.
	Role = call.Role

	// Access is what the agent may do while it answers, from [AccessNone] (the zero value: text only) over [AccessRead]
	// and [AccessWrite] to [AccessFull]. In JSON it is a word, such as "read".
	Access = call.Access

	// Options are settings that only some backends have, such as Effort, MaxTurns, AllowedTools and MCPConfig. A backend
	// that does not have one that is set is skipped with the reason unsupported. The zero value sets none.
	Options = call.Options

	// Response is an answer: its Text, the Backend and Model that gave it, its Usage, a Session to continue, and the
	// Attempts that failed before it. It is a plain value that survives JSON.
	Response = call.Response

	// Usage is what a run consumed: InputTokens, OutputTokens and the tokens of caches, Turns, and CostUSD in US dollars.
	// A zero count was not reported; a nil CostUSD is unknown.
	Usage = call.Usage

	// Event is one thing that happened during a call. Its Kind says which of the other fields are set, such as Text for
	// [EventText], Name and Input for [EventToolUse], Attempt for [EventAttempt] and Response for [EventDone].
	Event = call.Event

	// EventKind is the kind of an [Event]: one of the Event constants.
	EventKind = call.EventKind

	// Reason is the class of a failure: one of the Reason constants, such as [ReasonUsageLimit]. The
	// page docs/reference/errors.md says how the chain reacts to each reason. The zero value is no failure.
	Reason = call.Reason

	// BackendError says why one backend did not answer: its Backend, the Reason, a Message of one line, a Hint for a
	// person, the ExitCode and Stderr of its program, and RetryAfter if the backend named a time. [errors.Is] matches it
	// with the Err value of its Reason.
	BackendError = call.Error

	// Attempt is the part of one backend in a call: the Backend, the Reason why it did not answer, whether it was Skipped,
	// the Duration and the Usage of its run, and Err, usually a *[BackendError].
	Attempt = call.Attempt

	// ChainError says that no backend of a chain answered: the Attempts in order, a Cause where something else ended the
	// chain, and a Note. [errors.Is] and [errors.As] reach every attempt.
	ChainError = call.ChainError
)

// The roles of messages.
const (
	RoleSystem    = call.RoleSystem
	RoleUser      = call.RoleUser
	RoleAssistant = call.RoleAssistant
)

// The levels of access.
const (
	AccessNone  = call.AccessNone
	AccessRead  = call.AccessRead
	AccessWrite = call.AccessWrite
	AccessFull  = call.AccessFull
)

// The kinds of events.
const (
	EventSession    = call.EventSession
	EventDelta      = call.EventDelta
	EventText       = call.EventText
	EventThinking   = call.EventThinking
	EventToolUse    = call.EventToolUse
	EventToolResult = call.EventToolResult
	EventStatus     = call.EventStatus
	EventCompact    = call.EventCompact
	EventUsage      = call.EventUsage
	EventRetry      = call.EventRetry
	EventLimit      = call.EventLimit
	EventWarning    = call.EventWarning
	EventError      = call.EventError
	EventResult     = call.EventResult
	EventRaw        = call.EventRaw
	EventStart      = call.EventStart
	EventAttempt    = call.EventAttempt
	EventReset      = call.EventReset
	EventDone       = call.EventDone
	EventState      = call.EventState
)

// The reasons.
const (
	ReasonSuppressed         = call.ReasonSuppressed
	ReasonNotInstalled       = call.ReasonNotInstalled
	ReasonUnsupported        = call.ReasonUnsupported
	ReasonModelMismatch      = call.ReasonModelMismatch
	ReasonCoolingDown        = call.ReasonCoolingDown
	ReasonBudgetSpent        = call.ReasonBudgetSpent
	ReasonUnauthenticated    = call.ReasonUnauthenticated
	ReasonUntrustedDir       = call.ReasonUntrustedDir
	ReasonPermissionRefused  = call.ReasonPermissionRefused
	ReasonNestedSession      = call.ReasonNestedSession
	ReasonRateLimited        = call.ReasonRateLimited
	ReasonUsageLimit         = call.ReasonUsageLimit
	ReasonBilling            = call.ReasonBilling
	ReasonOverloaded         = call.ReasonOverloaded
	ReasonServerError        = call.ReasonServerError
	ReasonNetwork            = call.ReasonNetwork
	ReasonTimeout            = call.ReasonTimeout
	ReasonIdleTimeout        = call.ReasonIdleTimeout
	ReasonFirstOutputTimeout = call.ReasonFirstOutputTimeout
	ReasonBadModel           = call.ReasonBadModel
	ReasonContextOverflow    = call.ReasonContextOverflow
	ReasonBadRequest         = call.ReasonBadRequest
	ReasonBadOption          = call.ReasonBadOption
	ReasonBadSession         = call.ReasonBadSession
	ReasonBadOutput          = call.ReasonBadOutput
	ReasonEmpty              = call.ReasonEmpty
	ReasonExit               = call.ReasonExit
	ReasonKilled             = call.ReasonKilled
	ReasonOutputLimit        = call.ReasonOutputLimit
	ReasonSpawn              = call.ReasonSpawn
	ReasonCanceled           = call.ReasonCanceled
)

// One sentinel for each [Reason], for [errors.Is].
var (
	ErrSuppressed         = call.ErrSuppressed
	ErrNotInstalled       = call.ErrNotInstalled
	ErrUnsupported        = call.ErrUnsupported
	ErrModelMismatch      = call.ErrModelMismatch
	ErrCoolingDown        = call.ErrCoolingDown
	ErrBudgetSpent        = call.ErrBudgetSpent
	ErrUnauthenticated    = call.ErrUnauthenticated
	ErrUntrustedDir       = call.ErrUntrustedDir
	ErrPermissionRefused  = call.ErrPermissionRefused
	ErrNestedSession      = call.ErrNestedSession
	ErrRateLimited        = call.ErrRateLimited
	ErrUsageLimit         = call.ErrUsageLimit
	ErrBilling            = call.ErrBilling
	ErrOverloaded         = call.ErrOverloaded
	ErrServerError        = call.ErrServerError
	ErrNetwork            = call.ErrNetwork
	ErrTimeout            = call.ErrTimeout
	ErrIdleTimeout        = call.ErrIdleTimeout
	ErrFirstOutputTimeout = call.ErrFirstOutputTimeout
	ErrBadModel           = call.ErrBadModel
	ErrContextOverflow    = call.ErrContextOverflow
	ErrBadRequest         = call.ErrBadRequest
	ErrBadOption          = call.ErrBadOption
	ErrBadSession         = call.ErrBadSession
	ErrBadOutput          = call.ErrBadOutput
	ErrEmpty              = call.ErrEmpty
	ErrExit               = call.ErrExit
	ErrKilled             = call.ErrKilled
	ErrOutputLimit        = call.ErrOutputLimit
	ErrSpawn              = call.ErrSpawn
	ErrCanceled           = call.ErrCanceled
)

// Prompt makes a Request of one user message.
func Prompt(text string) Request { return call.Prompt(text) }
