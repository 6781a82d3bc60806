package held

import (
	"context"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cooling"
)

// Package live needs more of a provider than its public methods. Package clichain, which is above this one, sets these
// functions when it is initialized. provider is a *clichain.Provider.
var (
	// Hold starts the CLI of a provider in its live mode, in which one process answers many requests, and returns when it
	// is ready for turns like the request, whose messages of the user are not sent. permit answers the CLI's questions
	// with AccessWrite; nil denies them. session is for one conversation: the request may continue a session, for which
	// other calls then wait until the process has ended, or name the one that it begins. The error is a *call.Error.
	Hold func(
		ctx context.Context, provider any, req call.Request, permit func(context.Context, call.Question) bool, session bool,
	) (*CLI, error)

	// Guard begins a session for the provider's breaker. The caller closes the entry, which is nil if there is no breaker,
	// with the outcome of each turn. The error is a *call.Error with the reason cooling_down.
	Guard func(ctx context.Context, provider any, req call.Request) (*cooling.Entry, error)
)
