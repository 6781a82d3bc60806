package clichain

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/machine"
)

// Available returns nil, or the [*BackendError] a call would be skipped with:
// the spec is invalid, the backend is suppressed, its program is not
// installed, it is known to be logged out, or Config.Sandbox, Config.Billing or
// Config.RefuseNested is against it. It starts nothing and takes microseconds, so it returns nil too
// where only the CLI itself can tell who would pay.
func (p *Provider) Available(ctx context.Context) error {
	if err := p.refusal(ctx, Request{}); err != nil {
		return err
	}
	return nil
}

// refusal is why a call would not be started, as far as that can be told without composing it.
func (p *Provider) refusal(ctx context.Context, req Request) *BackendError {
	path, err := p.ready()
	if err == nil {
		_, err = p.admit(ctx, path, req, dirOf(p.name, req), nil)
	}
	if err == nil {
		err = p.label(p.nested())
	}
	return err
}

// ready finds the program to run.
func (p *Provider) ready() (path string, err *BackendError) {
	defer func() { p.label(err) }()
	if err := p.wrong(); err != nil {
		return "", err
	}
	p.compile()
	if err := checkSuppressed(p.spec); err != nil {
		return "", err
	}
	path, missing := p.finder.Find(p.programs(), p.linkNames()...)
	if missing == nil {
		return path, nil
	}
	err = &BackendError{Reason: ReasonNotInstalled, Message: missing.Error(), ExitCode: -1, Err: missing}
	if p.cfg.Container != nil {
		err.Hint = p.inside().Hint()
	}
	return "", err
}

// admit decides before anything is started whether a call in dir may start: who
// is logged in, who would pay, and whether this is a sandbox. Raw arguments may
// bring a login of their own. A nil ask leaves open what only the CLI can tell.
func (p *Provider) admit(
	ctx context.Context, path string, req Request, dir string, ask asker,
) (*login.Bill, *BackendError) {
	if req.Dir == "" && req.Access == AccessNone {
		dir = string(filepath.Separator) // its own folder is empty, and this process's directory is none above it
	}
	model, _ := p.composer.Models.Resolve(req.Model)
	payer := p.payer(req)
	if err := p.unknownPayer(req, payer); err != nil {
		return nil, p.label(err)
	}
	l := p.loggedIn(path, dir, model, payer)
	if len(req.Options.Extra[p.name]) > 0 && l.State == clispec.LoginInstalled {
		l.State = clispec.LoginUnknown
	}
	b := &login.Bill{Policy: payer, Login: l, Sources: p.login.Sources}
	err := loggedOut(l)
	if err == nil {
		err = p.sandboxed(l)
	}
	if err == nil {
		err = p.payable(ctx, path, b, ask)
	}
	if err != nil {
		return nil, p.label(err)
	}
	return b, nil
}

// payer is who has to pay for a call, if anybody in particular.
func (p *Provider) payer(req Request) call.Billing { return cmp.Or(p.cfg.Billing, req.Billing) }

// unknownPayer refuses a call in which the request could choose another account than the one that was examined: by raw
// arguments, or by a variable that the CLI may obey.
func (p *Provider) unknownPayer(req Request, payer call.Billing) *BackendError {
	field, what := "", ""
	switch obeyed := compose.Obeys(p.spec, req.Env); {
	case payer == call.BillingUnknown:
		return nil
	case req.Billing != call.BillingUnknown && req.Billing != payer:
		return call.Errorf(ReasonBilling, "billing", "%s has to pay for the request, and here only %s may (Config.Billing)",
			req.Billing, payer)
	case len(req.Options.Extra[p.name]) > 0:
		field, what = "options.extra."+p.name, "raw arguments"
	case obeyed != "":
		field, what = "env."+obeyed, "a variable that this CLI may obey"
	default:
		return nil
	}
	err := call.Errorf(ReasonBilling, field, "with %s it is unknown who would pay, and only %s may (Config.Billing)",
		what, payer)
	err.Hint = "leave it out, or leave Config.Billing empty"
	return err
}

// asker runs the CLI's status command.
type asker = func(context.Context, clispec.StatusRule) (clispec.StatusSign, error)

// statusTime bounds the status command. Some CLIs need seconds to start.
const statusTime = 10 * time.Second

// asks returns the asker for a program. Of a command that fails nothing is known.
func (p *Provider) asks(path string, payer call.Billing) asker {
	limit := statusTime
	if p.cfg.Timeout > 0 {
		limit = min(limit, p.cfg.Timeout/2) // the rest is for the call
	}
	return func(ctx context.Context, rule clispec.StatusRule) (clispec.StatusSign, error) {
		result, _, err := p.probe(ctx, path, payer, rule.Args, limit)
		if err != nil || result.Signal != "" {
			return clispec.StatusSign{}, judge.End(ctx)
		}
		return login.Sign(rule, result.Stdout.Text(), result.Stderr.Text(), result.ExitCode), nil
	}
}

// payable refuses a call that somebody else may have to pay for. It does not wait
// for the CLI to say so once it runs: its first request follows at once. A script
// may set a key, so where the CLI can tell, it is asked.
func (p *Provider) payable(ctx context.Context, path string, b *login.Bill, ask asker) *BackendError {
	if b.Policy != call.BillingUnknown && p.spec.Login.Status.Whole && login.IsShellScript(path) {
		b.Login.Billing, b.Login.Doubt = call.BillingUnknown, path
	}
	if b.Policy == call.BillingUnknown || !p.login.Open(b.Login) || p.cfg.Container != nil {
		return b.Refused("")
	}
	l, err := p.login.Settle(ctx, b.Login, ask)
	if err != nil {
		return spawnFailure(err)
	}
	if b.Login = l; ask == nil && p.login.Open(l) {
		return nil
	}
	if err := loggedOut(l); err != nil {
		return err
	}
	return b.Refused("")
}

// loggedOut is the skip of a backend that is known to be logged out.
func loggedOut(l login.Login) *BackendError {
	if l.State != clispec.LoginInstalled {
		return nil
	}
	return call.Errorf(ReasonUnauthenticated, "", "not logged in: no credential file, key or other way in was found")
}

// nested refuses a call inside an outer session of the same agent, where that
// is the policy.
func (p *Provider) nested() *BackendError {
	if !p.cfg.RefuseNested {
		return nil
	}
	name := compose.OuterSession(p.spec, os.Environ())
	if name == "" {
		return nil
	}
	err := call.Errorf(ReasonNestedSession, "", "%s is set: this process runs inside a session of the same agent", name)
	err.Hint = "run it outside of that session, or leave Config.RefuseNested false"
	return err
}

// sandbox is the name and the sign of the sandbox that the policy heeds; both
// are empty where there is none.
func (p SandboxPolicy) sandbox() (name, sign string) {
	switch p {
	case SandboxOn:
		return "a sandbox", "Config.Sandbox"
	case SandboxOff:
		return "", ""
	}
	return machine.NixBuild()
}

// sandboxed is the skip of a backend that could only stall in here.
func (p *Provider) sandboxed(l login.Login) *BackendError {
	name, sign := p.cfg.Sandbox.sandbox()
	switch {
	case sign == "" || p.cfg.Container != nil:
		return nil
	case !l.Sure():
		return inSandbox("inside %s (%s), and no credentials are in there", name, sign)
	case !machine.Online():
		return inSandbox("inside %s (%s), which has no network", name, sign)
	}
	return nil
}

func inSandbox(format string, args ...any) *BackendError {
	err := call.Errorf(ReasonSuppressed, "", format, args...)
	err.Hint = "let Config.Sandbox be SandboxOff to try all the same"
	return err
}

// loggedIn says what is known of the login of a program that works in dir and is
// asked for the model, where payer has to pay; "" is the directory of this process, no model, and anyone.
func (p *Provider) loggedIn(path, dir, model string, payer call.Billing) login.Login {
	if p.cfg.Container != nil {
		return login.Login{State: clispec.LoginUnknown, Evidence: "in a container"}
	}
	l := p.login.State(path, dir, model, grammar.Without(os.Environ(), p.barred(payer)), func() map[string]string {
		h := p.host(path, payer)
		return p.passed(&h, dir, model)
	})
	if l.State == clispec.LoginInstalled && (p.cfg.Binary != "" || login.IsShellScript(path)) {
		l.State = clispec.LoginUnknown // it may bring a key of its own
	}
	return l
}
