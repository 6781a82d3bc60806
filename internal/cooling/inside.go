package cooling

import "github.com/clichain/clichain/call"

// Package clichain sets these functions for its tests, which are in other packages and cannot look into its types.
var (
	// KeeperOf returns the keeper of a [*clichain.Chain], or the one of the breaker of a [*clichain.Provider].
	KeeperOf func(b any) *Keeper
	// CallOf returns the call of a [clichain.Backend] with a request.
	CallOf func(backend any, req call.Request) Call
)
