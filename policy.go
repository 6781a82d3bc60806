package clichain

// verdict is one row of the decision table: what may follow a failure.
type verdict struct {
	skip  bool // the backend was not started; the next one is tried
	again bool // the same backend, once, after a back-off
	next  bool // the next backend
}

// policy is the decision table of docs/errors.md. It is the only place that
// says what a Reason leads to.
var policy = map[Reason]verdict{
	ReasonSuppressed:    {skip: true, next: true},
	ReasonNotInstalled:  {skip: true, next: true},
	ReasonUnsupported:   {skip: true, next: true},
	ReasonModelMismatch: {skip: true, next: true},
	ReasonCoolingDown:   {skip: true, next: true},
	ReasonBudgetSpent:   {skip: true, next: true},

	ReasonUnauthenticated:   {next: true},
	ReasonUntrustedDir:      {next: true},
	ReasonPermissionRefused: {next: true},
	ReasonNestedSession:     {next: true},

	ReasonRateLimited: {next: true},
	ReasonUsageLimit:  {next: true},
	ReasonBilling:     {next: true},

	ReasonOverloaded:  {again: true, next: true},
	ReasonServerError: {again: true, next: true},
	ReasonNetwork:     {again: true, next: true},

	ReasonTimeout:            {next: true},
	ReasonIdleTimeout:        {next: true},
	ReasonFirstOutputTimeout: {next: true},

	ReasonBadModel:        {next: true},
	ReasonContextOverflow: {next: true},
	ReasonBadRequest:      {}, // the caller's mistake: no backend will like it better
	ReasonBadOption:       {},
	ReasonBadSession:      {},

	ReasonBadOutput:   {next: true},
	ReasonEmpty:       {next: true},
	ReasonExit:        {next: true},
	ReasonKilled:      {next: true},
	ReasonOutputLimit: {next: true},
	ReasonSpawn:       {next: true},

	ReasonCanceled: {},
}
