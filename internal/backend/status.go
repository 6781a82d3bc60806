package backend

import (
	"os"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/skiplist"
)

// Status is what is known about a backend without starting its CLI.
type Status struct {
	Path, Version string      // of the program; "" if there is none
	Login         login.Login // set if there is a program
	SuppressedBy  string      // the environment variable or setting that turns the backend off
}

// Status returns what is known about a call in dir. The Backend must be valid.
func (b *Backend) Status(dir string) (s Status) {
	b.Compile()
	s.Login.State = clispec.LoginNotFound
	path, err := b.locate()
	if err == nil {
		s.Path, s.Version, s.Login = path, b.Version(path), b.login(path, dir, "", b.Settings.Billing)
	}
	s.SuppressedBy, _ = skiplist.By(listNames(b.Spec)...)
	if s.SuppressedBy == "" && err == nil && b.sandboxed(s.Login) != nil {
		_, s.SuppressedBy = b.Settings.Sandbox.Detected()
	}
	return s
}

// login returns what is known about the login for a model in a working directory, if payer must pay.
func (b *Backend) login(path, dir, model string, payer call.Billing) login.Login {
	if b.InContainer() {
		return login.Login{State: clispec.LoginUnknown, Evidence: "in a container"}
	}
	l := b.Login.State(path, dir, model, grammar.Without(os.Environ(), b.barred(payer)), func() map[string]string {
		h := b.Host(path, payer)
		return b.Passed(&h, dir, model)
	})
	if l.State == clispec.LoginInstalled && (b.Settings.Binary != "" || login.IsShellScript(path)) {
		l.State = clispec.LoginUnknown // the program may contain a key
	}
	return l
}

// sandboxed returns the error of a backend that would only stall in a sandbox, or nil.
func (b *Backend) sandboxed(l login.Login) *call.Error {
	name, sign := b.Settings.Sandbox.Detected()
	problem := ""
	switch {
	case sign == "" || b.InContainer():
		return nil
	case !l.Sure():
		problem = ", without credentials"
	case !machine.Online():
		problem = ", which has no network"
	default:
		return nil
	}
	err := call.Errorf(call.ReasonSuppressed, "", "inside %s%s", name, problem)
	err.Advice = []call.Advice{{Action: call.ActionSet, Field: "config.sandbox", Value: string(SandboxOff)}}
	return err
}
