package clichain

import (
	"context"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/skiplist"
)

// Status is what is known of a backend without starting its CLI. A plain
// value; it holds no secret.
type Status struct {
	// Path is the program that a call would start. Empty: there is none.
	Path string
	// Version is that of the program, as its files tell it. Empty: they do not.
	Version string
	// Login is what is known of its login, and Evidence the variable or file
	// that shows it.
	Login    clispec.LoginState
	Evidence string
	// Billing is who would pay. Empty: unknown.
	Billing call.Billing
	// Expired: the credential has expired, and nothing is there to renew it.
	Expired bool
	// Unproven: the credential is there, and the service may refuse it all the same.
	Unproven bool
	// SuppressedBy names the variable or setting that turns the backend off.
	// Empty: nothing does.
	SuppressedBy string
	// Doubts says of each mistake in SKIP_CLI and its aliases, such as a name that
	// no backend has, what it turns off. Empty: there is none.
	Doubts []string
	// Err is the [*BackendError] that a call would be skipped with. Nil: it
	// would be tried.
	Err error
}

// Status says what is known of a call that works in dir; the empty dir is that
// of this process. It starts nothing and takes microseconds.
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
		Err: plain(p.impl.Refusal(context.Background(), Request{Dir: dir})),
	}
}

// RequiresAPIKey reports whether a call would be paid for by an API key: Config.Billing
// says so, or the login that was found. It is false for a login with a subscription,
// and where it is not known.
func (p *Provider) RequiresAPIKey() bool {
	return p.cfg.Billing == call.BillingAPIKey || p.Status("").Billing == call.BillingAPIKey
}
