package batch

import (
	"context"
	"errors"

	"github.com/clichain/clichain"
)

// checker is a chain that answers everything but what every chain refuses.
var checker = clichain.ChainOf([]clichain.Backend{unasked("nobody")}, &clichain.ChainConfig{NoCooldown: true})

// mistakeIn finds what makes a request fail at every backend, such as a role that there is not.
func mistakeIn(ctx context.Context, req clichain.Request) error {
	_, err := checker.Complete(ctx, req)
	chain, failed := errors.AsType[*clichain.ChainError](err)
	if !failed || chain.Reason() != clichain.ReasonBadRequest && chain.Reason() != clichain.ReasonBadOption {
		return nil
	}
	return errors.New(said(chain))
}
