package backend

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/sessionfile"
	"github.com/clichain/clichain/internal/skiplist"
)

// Refusal returns why a call would not start, if that is known without composing the call.
func (b *Backend) Refusal(ctx context.Context, req call.Request) *call.Error {
	path, err := b.Find()
	if err == nil {
		_, err = b.Admit(ctx, path, req, sessionfile.DirOf(b.Name, req), false)
	}
	if err == nil {
		err = b.Label(b.Nested())
	}
	return err
}

// Find returns the path of the program. It returns an error if the backend is invalid, suppressed or not
// installed.
func (b *Backend) Find() (path string, err *call.Error) {
	if err := b.Invalid(); err != nil {
		return "", b.Label(err)
	}
	b.Compile()
	if err := suppressed(b.Spec); err != nil {
		return "", b.Label(err)
	}
	path, missing := b.locate()
	if missing == nil {
		return path, nil
	}
	err = &call.Error{Reason: call.ReasonNotInstalled, Message: missing.Error(), ExitCode: -1, Err: missing}
	if b.InContainer() {
		err.Hint, err.Advice = b.Settings.Container.MissingRuntime()
	}
	return "", b.Label(err)
}

// listNames are the names by which SKIP_CLI turns a backend off.
func listNames(spec *clispec.Spec) []string {
	return []string{spec.Name, spec.InstanceOf, spec.ProviderSlug}
}

// suppressed returns the error of a backend that SKIP_CLI or an alias turns off, or nil.
func suppressed(spec *clispec.Spec) *call.Error {
	variable, doubt := skiplist.By(listNames(spec)...)
	if variable == "" {
		return nil
	}
	err := call.Errorf(call.ReasonSuppressed, "", "suppressed by %s=%s", variable, plaintext.OneLine(os.Getenv(variable)))
	err.Hint = "unset " + variable
	if doubt != "" {
		err.Message += ": " + doubt + ", which resembles this backend"
		err.Hint += ", or correct it"
	}
	return err
}

// Admit decides whether a call in dir may start: by the login, by the account that would pay, and by the
// sandbox policy. Without mayAsk, it does not run the status command of the CLI, and admits a call that only
// that command could refuse.
func (b *Backend) Admit(
	ctx context.Context, path string, req call.Request, dir string, mayAsk bool,
) (*login.Bill, *call.Error) {
	if req.Dir == "" && req.Access == call.AccessNone {
		dir = string(filepath.Separator) // the working directory will be empty, and not below that of this process
	}
	payer := b.Payer(req)
	if err := b.unknownPayer(req, payer); err != nil {
		return nil, b.Label(err)
	}
	model, _ := b.Composer.Models.Resolve(req.Model)
	l := b.login(path, dir, model, payer)
	if len(req.Options.Extra[b.Name]) > 0 && l.State == clispec.LoginInstalled {
		l.State = clispec.LoginUnknown // raw arguments may contain a login
	}
	bill := &login.Bill{Policy: payer, Login: l, Sources: b.Login.Sources}
	err := loggedOut(l)
	if err == nil {
		err = b.sandboxed(l)
	}
	if err == nil {
		err = b.payable(ctx, path, bill, mayAsk)
	}
	if err != nil {
		return nil, b.Label(err)
	}
	return bill, nil
}

// Payer returns which account must pay for a call, or "" if any account may.
func (b *Backend) Payer(req call.Request) call.Billing {
	return cmp.Or(b.Settings.Billing, req.Billing)
}

// unknownPayer returns an error for a request that could select another account than the examined one: with raw
// arguments, or with an environment variable that affects the CLI.
func (b *Backend) unknownPayer(req call.Request, payer call.Billing) *call.Error {
	field, what := "", ""
	switch obeyed := compose.Obeys(b.Spec, req.Env); {
	case payer == call.BillingUnknown:
		return nil
	case req.Billing != call.BillingUnknown && req.Billing != payer:
		return call.Errorf(call.ReasonBilling, "billing",
			"the request must be paid by %s, but only %s may pay", req.Billing, payer)
	case len(req.Options.Extra[b.Name]) > 0:
		field, what = "options.extra."+b.Name, "raw arguments"
	case obeyed != "":
		field, what = "env."+obeyed, "an environment variable that this CLI may use"
	default:
		return nil
	}
	err := call.Errorf(call.ReasonBilling, field,
		"with %s it is unknown which account would pay, and only %s may pay", what, payer)
	err.Hint, err.Advice = "remove it from the request", []call.Advice{{Action: call.ActionUnset, Field: "config.billing"}}
	return err
}

// maxStatusTime limits the status command. Some CLIs need seconds to start.
const maxStatusTime = 10 * time.Second

// statusFunc runs the status command of a CLI.
type statusFunc = func(context.Context, clispec.StatusRule) (clispec.StatusSign, error)

// status returns the statusFunc of a program. If the command fails, it returns no sign.
func (b *Backend) status(path string, payer call.Billing) statusFunc {
	limit := maxStatusTime
	if b.Settings.Timeout > 0 {
		limit = min(limit, b.Settings.Timeout/2) // the rest is for the call
	}
	return func(ctx context.Context, rule clispec.StatusRule) (clispec.StatusSign, error) {
		result, _, err := b.Run(ctx, path, payer, rule.Args, limit)
		if err != nil || result.Signal != "" {
			return clispec.StatusSign{}, judge.End(ctx)
		}
		return login.Sign(rule, result.Stdout.Text(), result.Stderr.Text(), result.ExitCode), nil
	}
}

// payable returns an error for a call that the wrong account may pay for. It does not wait for the run to
// report the account, because the first request to the model follows at once. A wrapper script may set a key,
// so payable runs the status command of the CLI.
func (b *Backend) payable(ctx context.Context, path string, bill *login.Bill, mayAsk bool) *call.Error {
	if bill.Policy != call.BillingUnknown && b.Spec.Login.Status.Whole && login.IsShellScript(path) {
		bill.Login.Billing, bill.Login.Doubt = call.BillingUnknown, path
	}
	if bill.Policy == call.BillingUnknown || !b.Login.Open(bill.Login) || b.InContainer() {
		return bill.Refused("")
	}
	var ask statusFunc
	if mayAsk {
		ask = b.status(path, bill.Policy)
	}
	l, err := b.Login.Settle(ctx, bill.Login, ask)
	if err != nil {
		return SpawnFailure(err)
	}
	if bill.Login = l; !mayAsk && b.Login.Open(l) {
		return nil
	}
	if err := loggedOut(l); err != nil {
		return err
	}
	return bill.Refused("")
}

// loggedOut returns the error of a backend that is known to be logged out, or nil.
func loggedOut(l login.Login) *call.Error {
	if l.State != clispec.LoginInstalled {
		return nil
	}
	return call.Errorf(call.ReasonUnauthenticated, "", "not logged in: no credential file, key or other login was found")
}

// Nested returns an error for a call inside a session of the same agent, if the settings refuse such calls.
func (b *Backend) Nested() *call.Error {
	if !b.Settings.RefuseNested {
		return nil
	}
	name := compose.OuterSession(b.Spec, os.Environ())
	if name == "" {
		return nil
	}
	err := call.Errorf(call.ReasonNestedSession, "",
		"%s is set, so this process runs inside a session of the same agent", name)
	err.Hint = "run the program outside of that session"
	err.Advice = []call.Advice{{Action: call.ActionUnset, Field: "config.refuse_nested"}}
	return err
}
