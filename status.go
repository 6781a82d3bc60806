package clichain

import (
	"context"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/skiplist"
)

// Status is the state of a backend that is known without starting its CLI. It is a plain value and has no secrets.
type Status struct {
	// Path is the program that a call would start. Empty: not installed.
	Path string
	// Version is the version of the program. Empty: its files do not tell it.
	Version string
	// Login is the state of the login. Evidence is the environment variable or file that proves it.
	Login    clispec.LoginState
	Evidence string
	// Billing is who would pay for a call. Empty: unknown.
	Billing call.Billing
	// Expired: the credentials have expired and cannot be renewed.
	Expired bool
	// Unproven: credentials exist, but the service may refuse them.
	Unproven bool
	// Confined is what would confine a call, by its access, as in Response.Confined.
	Confined map[Access]string
	// SuppressedBy is the environment variable or setting that turns the backend off. Empty: the backend is on.
	SuppressedBy string
	// Doubts has a line for each mistake in SKIP_CLI and its aliases, such as a misspelled name. The line says which
	// backends the mistake turns off.
	Doubts []string
	// Err is the [*BackendError] with which a call would be skipped. Nil: a call would start.
	Err error
}

// Status returns the state of the backend for calls in dir. An empty dir means the working directory of this process.
// Status starts no process and takes microseconds.
func (p *Provider) Status(dir string) Status {
	if p.impl.Invalid() != nil {
		_, err := p.Program()
		return Status{Login: clispec.LoginUnknown, Err: err}
	}
	found := p.impl.Status(dir)
	confined := map[Access]string{}
	for access := call.AccessNone; access <= call.AccessFull; access++ {
		confined[access], _, _ = p.impl.Confined(found.Path, access) // the value includes an error
	}
	return Status{
		Confined: confined,
		Path:     found.Path, Version: found.Version,
		Login: found.Login.State, Evidence: found.Login.Evidence, Billing: found.Login.Billing,
		Expired: found.Login.Expired, Unproven: found.Login.Unproven,
		SuppressedBy: found.SuppressedBy, Doubts: skiplist.EnvironDoubts(),
		Err: errorOf(p.impl.Refusal(context.Background(), Request{Dir: dir})),
	}
}

// RequiresAPIKey reports whether Config.Billing or the login is an API key. It is false for a subscription, and if
// the payer is unknown.
func (p *Provider) RequiresAPIKey() bool {
	return p.cfg.Billing == call.BillingAPIKey || p.Status("").Billing == call.BillingAPIKey
}
