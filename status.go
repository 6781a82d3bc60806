package clichain

import (
	"context"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/skiplist"
	"github.com/clichain/clichain/internal/structured"
	"github.com/clichain/clichain/runs"
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
	if p.wrong() != nil {
		_, err := p.ready()
		return Status{Login: clispec.LoginUnknown, Err: err}
	}
	p.compile()
	s := Status{Login: clispec.LoginNotFound, Doubts: skiplist.EnvironDoubts()}
	if path, err := p.finder.Find(p.programs(), p.linkNames()...); err == nil {
		l := p.loggedIn(path, dir, "", p.cfg.Billing)
		s.Path, s.Version, s.Login, s.Evidence = path, p.version(path), l.State, l.Evidence
		s.Billing, s.Expired, s.Unproven = l.Billing, l.Expired, l.Unproven
	}
	s.SuppressedBy = p.suppressor(s.Path, dir)
	if err := p.refusal(context.Background(), Request{Dir: dir}); err != nil {
		s.Err = err
	}
	return s
}

// suppressor names what turns the backend off here.
func (p *Provider) suppressor(path, dir string) string {
	if variable, _ := skiplist.By(namesOf(p.spec)...); variable != "" {
		return variable
	}
	if path == "" || p.sandboxed(p.loggedIn(path, dir, "", p.cfg.Billing)) == nil {
		return ""
	}
	_, sign := p.cfg.Sandbox.sandbox()
	return sign
}

// Check returns nil, or the [*BackendError] with which a call of this request
// would be refused or skipped, as far as that can be told without starting
// anything: besides what [Provider.Available] looks at, the model, the access, the
// options, the schema, the folder, the session, and the breaker.
func (p *Provider) Check(ctx context.Context, req Request) error {
	if _, err := p.planned(ctx, req, mode{output: p.cfg.Output}); err != nil {
		return err
	}
	if p.cfg.Breaker == cooldown.BreakerOn {
		if refused := p.breaker().Skip(ctx, cooldownCall{p.name, p, req}); refused != nil {
			return p.label(refused)
		}
	}
	return nil
}

// planned is the plan of a call that is not made.
func (p *Provider) planned(ctx context.Context, req Request, m mode) (*plan, *BackendError) {
	if _, err := structured.Compile(req.Schema); err != nil {
		return nil, p.label(err)
	}
	inv, err := p.prepare(ctx, req, m, false)
	return inv, p.label(err)
}

// Command is what a call of this request would start. It starts nothing and makes no
// file. Where the call would be refused or skipped, the error is that of
// [Provider.Check].
func (p *Provider) Command(ctx context.Context, req Request) (*runs.Command, error) {
	const temp = "{temp}"
	inv, err := p.planned(ctx, req, mode{output: p.cfg.Output, temp: temp, shown: true})
	if err != nil {
		return nil, err
	}
	c := &runs.Command{
		Path: inv.Path, Args: inv.Args, Dir: inv.Dir, Empty: inv.Empty, Stdin: len(inv.Stdin), Files: []runs.File{},
		Model: inv.Call.Fields.Expand("{model}"), Output: string(inv.Call.Output), Transport: string(inv.Call.Transport),
	}
	for _, kv := range inv.Env {
		name, _, _ := strings.Cut(kv, "=")
		c.Env = append(c.Env, name)
	}
	for _, f := range inv.Files {
		c.Files = append(c.Files, runs.File{Path: f.Path, Size: len(f.Content)})
	}
	return c, nil
}

// Program is the path of the program that a call would start. The error is that
// of [Provider.Available], with the reason not_installed where there is none.
func (p *Provider) Program() (path string, err error) {
	path, missing := p.ready()
	if missing != nil {
		return "", missing
	}
	return path, nil
}

// RequiresAPIKey reports whether a call would be paid for by an API key: Config.Billing
// says so, or the login that was found. It is false for a login with a subscription,
// and where it is not known.
func (p *Provider) RequiresAPIKey() bool {
	return p.cfg.Billing == call.BillingAPIKey || p.Status("").Billing == call.BillingAPIKey
}

// Model is the name under which the CLI gets a model, "" for the CLI's own
// default; ok is false where the name belongs to no model of this backend.
func (p *Provider) Model(name string) (model string, ok bool) {
	p.compile()
	if p.spec == nil {
		return "", false
	}
	return p.composer.Models.Resolve(name)
}

// Spec is the spec that the Provider was made from, under the name of the Provider.
func (p *Provider) Spec() CliSpec {
	p.compile()
	if p.spec == nil {
		return CliSpec{Name: p.name}
	}
	return *p.spec
}

// Config is the configuration of the Provider, with its defaults filled in.
func (p *Provider) Config() Config { return p.cfg }

// Environ returns the variables of this process's environment that the CLI
// sees, and those that Config.Env sets. It holds secrets.
func (p *Provider) Environ() map[string]string {
	p.compile()
	if p.spec == nil {
		return nil
	}
	h := p.host("", p.cfg.Billing)
	return p.passed(&h, "", "")
}
