package clichain

import "github.com/clichain/clichain/call"

// The types of a call. They are aliases of the types in package call.
type (
	// Request is one call of a backend: Messages, and optional fields such as Model, Access, Dir, Session, Schema and
	// Options. [Prompt] makes a Request from a text. The zero value has no message and fails with bad_request. A
	// Request is a plain value that can be stored as JSON. Backends do not modify it, so concurrent calls can share
	// it.
	Request = call.Request

	// Message is one message of a conversation: the Role of its author and its Content, valid UTF-8 without NUL
	// bytes. It is a plain value. The zero value fails with bad_request, because it has no Role.
	Message = call.Message

	// Role is the author of a [Message]: [RoleSystem], [RoleUser] or [RoleAssistant]. It is a string. The zero value
	// fails with bad_request.
	Role = call.Role

	// Access is what the agent may do while it answers: [AccessNone] (the zero value: return text, use no tools),
	// [AccessRead], [AccessWrite] or [AccessFull]. It is an integer, and higher levels permit more. In JSON it is a
	// string such as "read".
	Access = call.Access

	// Options are settings that only some backends support, such as Effort, MaxTurns, AllowedTools, MCPConfig and
	// Images. A backend that does not support an option of the request is skipped with the reason unsupported.
	// Options is a plain value. The zero value sets no option.
	Options = call.Options

	// Response is an answer: its Text, the Backend and Model that gave it, its Usage and Duration, a Session to
	// continue, and the Attempts that failed before it. Backends never return the zero value. A Response is a plain
	// value that can be stored as JSON.
	Response = call.Response

	// Usage is the consumption of a run: InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens, Turns, and
	// CostUSD in US dollars. A zero count means that the CLI reported none, and a nil CostUSD that the cost is
	// unknown. Usage is a plain value. The zero value means that the CLI reported nothing.
	Usage = call.Usage

	// Event is one step of a call, such as text, a tool use or a failed attempt. Its Kind determines which other
	// fields are set: Text for [EventText], Name and Input for [EventToolUse], Attempt for [EventAttempt], Response
	// for [EventDone]. It is a plain value that can be stored as JSON. The zero value has no Kind.
	Event = call.Event

	// EventKind is the kind of an [Event]: one of the Event constants, such as [EventText]. It is a string. The zero
	// value is no kind.
	EventKind = call.EventKind

	// Reason is the class of a failure: one of the Reason constants, such as [ReasonUsageLimit]. It is a string. The
	// zero value means that there is no failure. docs/reference/errors.md lists the effect of each reason.
	Reason = call.Reason

	// BackendError is the failure of one backend. It has the Backend, the Reason, a Message of one line and a Hint for
	// the user. It also has the ExitCode and Stderr of the program, and RetryAfter if the backend gave a time.
	// [errors.Is] matches it with the Err value of its Reason. The zero value has no Reason. Do not modify a returned
	// BackendError; concurrent reads are safe.
	BackendError = call.Error

	// Attempt is the result of one backend in a call. It has the Backend, the Reason of its failure, whether it was
	// Skipped, and the Duration and the Usage of its run. Err is usually a *[BackendError]. It is a plain value. The
	// zero value means that no backend was asked.
	Attempt = call.Attempt

	// ChainError is the failure of a chain: the Attempts in order, the Cause if something other than an attempt ended
	// the call, and a Note. [errors.Is] and [errors.As] find the error of every attempt. The zero value means that
	// the chain has no backends. Do not modify a returned ChainError; concurrent reads are safe.
	ChainError = call.ChainError
)

// The roles of a [Message]. Any other role fails with bad_request.
const (
	RoleSystem    = call.RoleSystem
	RoleUser      = call.RoleUser
	RoleAssistant = call.RoleAssistant
)

// The levels of [Access], in ascending order. [AccessNone] returns text and uses no tools, [AccessRead] reads files,
// [AccessWrite] edits files in Request.Dir, and [AccessFull] permits everything that the user may do.
const (
	AccessNone  = call.AccessNone
	AccessRead  = call.AccessRead
	AccessWrite = call.AccessWrite
	AccessFull  = call.AccessFull
)

// The kinds of events. [call.EventKind] documents the fields that each kind sets.
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

// The reasons of failures and skips. docs/reference/errors.md explains each one.
const (
	ReasonSuppressed         = call.ReasonSuppressed
	ReasonNotInstalled       = call.ReasonNotInstalled
	ReasonUnsupported        = call.ReasonUnsupported
	ReasonModelMismatch      = call.ReasonModelMismatch
	ReasonCoolingDown        = call.ReasonCoolingDown
	ReasonReserved           = call.ReasonReserved
	ReasonBudgetSpent        = call.ReasonBudgetSpent
	ReasonUnauthenticated    = call.ReasonUnauthenticated
	ReasonUntrustedDir       = call.ReasonUntrustedDir
	ReasonPermissionRefused  = call.ReasonPermissionRefused
	ReasonNestedSession      = call.ReasonNestedSession
	ReasonUnconfined         = call.ReasonUnconfined
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
	ReasonRejected           = call.ReasonRejected
	ReasonCanceled           = call.ReasonCanceled
)

// The sentinel of each [Reason], for [errors.Is].
var (
	ErrSuppressed         = call.ErrSuppressed
	ErrNotInstalled       = call.ErrNotInstalled
	ErrUnsupported        = call.ErrUnsupported
	ErrModelMismatch      = call.ErrModelMismatch
	ErrCoolingDown        = call.ErrCoolingDown
	ErrReserved           = call.ErrReserved
	ErrBudgetSpent        = call.ErrBudgetSpent
	ErrUnauthenticated    = call.ErrUnauthenticated
	ErrUntrustedDir       = call.ErrUntrustedDir
	ErrPermissionRefused  = call.ErrPermissionRefused
	ErrNestedSession      = call.ErrNestedSession
	ErrUnconfined         = call.ErrUnconfined
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
	ErrRejected           = call.ErrRejected
	ErrCanceled           = call.ErrCanceled
)

// Prompt returns a Request that has text as its only user message.
func Prompt(text string) Request { return call.Prompt(text) }
