package held

import (
	"context"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/cooling"
)

// Package live needs access to internals of a provider. Package clichain sets these functions in its
// initialization. The argument provider is a *clichain.Provider.
var (
	// Hold starts the CLI of a provider in its live mode, in which one process answers many requests. It
	// returns when the process is ready for turns like the request, and does not send the user messages of the
	// request. permit answers the CLI's questions with AccessWrite; nil denies them. session is set for a
	// process that serves one conversation. Then the request may name the session to create, or continue a
	// session, for which other calls wait until the process has ended. The error is a *call.Error.
	Hold func(
		ctx context.Context, provider any, req call.Request, permit func(context.Context, call.Question) bool, session bool,
	) (*CLI, error)

	// Guard begins a session for the provider's breaker. The caller closes the entry, which is nil without a
	// breaker, with the outcome of each turn. The error is a *call.Error with the reason cooling_down.
	Guard func(ctx context.Context, provider any, req call.Request) (*cooling.Entry, error)

	// Watch begins a turn for hooks, a *clichain.Hooks that may be nil. see receives each event of the turn, and end
	// its result.
	Watch func(ctx context.Context, hooks any, req call.Request) (see func(call.Event), end func(*call.Response, error))

	// Keep returns a function that stores usage windows of the account that pays for a request of the provider. It does
	// nothing if the store is nil.
	Keep func(provider any, req call.Request, store cooldown.QuotaStore) func(context.Context, []call.QuotaWindow)
)
