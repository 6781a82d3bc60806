package clichain

import (
	"context"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/skiplist"
)

// Status is what is known of a backend without starting its CLI. It is a plain value and holds no secret.
type Status struct {
	// Path is the program that a call would start. Empty: there is none.
	Path string
	// Version is that of the program. Empty: its files do not tell it.
	Version string
	// Login is what is known of the login, and Evidence the environment variable or file that shows it.
	Login    clispec.LoginState
	Evidence string
	// Billing is who would pay. Empty: unknown.
	Billing call.Billing
	// Expired: the credentials have expired and cannot be renewed.
	Expired bool
	// Unproven: credentials exist, but the service may refuse them.
	Unproven bool
	// SuppressedBy names the environment variable or setting that turns the backend off. Empty: none does.
	SuppressedBy string
	// Doubts has a line for each mistake in SKIP_CLI and its aliases, such as a misspelled name, and says what it turns
	// off.
	Doubts []string
	// Err is the [*BackendError] with which a call would be skipped. Nil: a call would start.
	Err error
}

// Status returns what is known of a call in dir; an empty dir is the directory of this process. It starts nothing and
// takes microseconds.
func (p *Provider) Status(dir string) Status {
	if p.impl.Invalid() != nil {
		_, err := p.Program()
		return Status{Login: clispec.LoginUnknown, Err: err}
	}
	found := p.impl.Status(dir)
	return Status{
		Path: found.Path, Version: found.Version,
		Login: found.Login.State, Evidence: found.Login.Evidence, Billing: found.Login.Billing,
		Expired: found.Login.Expired, Unproven: found.Login.Unproven,
		SuppressedBy: found.SuppressedBy, Doubts: skiplist.EnvironDoubts(),
		Err: errorOf(p.impl.Refusal(context.Background(), Request{Dir: dir})),
	}
}

// RequiresAPIKey reports whether an API key would pay for a call, by Config.Billing or by the login. It is false for a
// login with a subscription, and if that is unknown.
func (p *Provider) RequiresAPIKey() bool {
	return p.cfg.Billing == call.BillingAPIKey || p.Status("").Billing == call.BillingAPIKey
}
