package clichain

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// CliSpec is everything that is known about one CLI, as plain data. Package
// clispec has the parts that it is made of.
type CliSpec = clispec.Spec

// PromptStyle is how a simple CLI takes its prompt.
type PromptStyle = clispec.PromptStyle

// The prompt styles.
const (
	DashP         = clispec.DashP
	RunSubcommand = clispec.RunSubcommand
)

// The words of a call live in package call, below all that works with them.
type (
	Request      = call.Request   // what is asked
	Message      = call.Message   // one turn of a conversation
	Role         = call.Role      // who wrote a message
	Access       = call.Access    // what the agent may do
	Options      = call.Options   // settings that only some backends have
	Response     = call.Response  // an answer
	Usage        = call.Usage     // what a run consumed
	Event        = call.Event     // what happens meanwhile
	EventKind    = call.EventKind // the kind of an Event
	Reason       = call.Reason    // the class of a failure
	BackendError = call.Error     // why one backend did not answer
	Attempt      = call.Attempt   // one backend's part in a call
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
