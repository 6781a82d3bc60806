package clichain

import (
	"context"
	"os"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/container"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/instance"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/workdir"
)

// plan is a call that may start: the invocation, who pays, and how to end what
// it leaves in a container.
type plan struct {
	*compose.Invocation
	bill *login.Bill
	box  *container.Box // nil: it runs on this machine

	known *session.Record // of the session to go on from
	mode  mode            // in which it was composed
}

// mode is how a CLI is run for a request.
type mode struct {
	output clispec.OutputMode // "": the best there is
	after  bool               // a stream of the same call broke off
	temp   string             // the folder of its files; "": a new one
	asks   bool               // the caller answers its questions
	talks  bool               // the process is held for one conversation
	shown  bool               // it is not run: texts stand by their size
	starts bool               // the CLI is started, so its directory is made

	trace, traceState string // of the call's span, as in call.WithTrace
}

// prepare does everything that comes before the process. It starts nothing but the
// CLI's status command, and that only if starts is set.
func (p *Provider) prepare(
	ctx context.Context, req Request, m mode, starts bool,
) (*plan, *BackendError) {
	path, err := p.ready()
	if err != nil {
		return nil, err
	}
	if err := compose.Check(req); err != nil {
		return nil, p.label(err)
	}
	var ask asker
	if starts {
		ask = p.asks(path, p.payer(req))
	}
	known := knownOf(p.name, req)
	b, err := p.admit(ctx, path, req, session.Dir(req, known), ask)
	if err != nil {
		return nil, err
	}
	if m.temp == "" {
		m.temp = p.tempDir()
	}
	m.trace, m.traceState = call.TraceOf(ctx)
	m.starts = starts
	inv, box, err := p.compose(path, req, known, m)
	if err != nil {
		return nil, p.label(err)
	}
	return &plan{inv, b, box, known, m}, nil
}

func (p *Provider) compose(
	path string, req Request, known *session.Record, m mode,
) (*compose.Invocation, *container.Box, *BackendError) {
	dir, err := p.workdir().Dir(req, known, m.starts)
	if err != nil {
		return nil, nil, err
	}
	if p.cfg.Container == nil {
		if req.Options, err = workdir.ResolveOptions(req.Options); err != nil {
			return nil, nil, err
		}
	}
	h := p.host(path, p.payer(req))
	if err := p.nested(); err != nil {
		return nil, nil, err
	}
	h.Dir, h.RealDir, h.TempDir, h.TrustDir, h.Known = dir, dir, m.temp, p.cfg.TrustDir, known
	h.Agent, h.Asks, h.Conversation, h.Version = p.cfg.Agent, m.asks, m.talks, p.version(path)
	h.Trace, h.TraceState = m.trace, m.traceState
	if p.cfg.Container == nil {
		h.RealDir = workdir.RealPath(dir)
	}
	p.readFiles(&h, dir)
	inv, err := p.composer.Compose(req, compose.Choice{Output: m.output, Transport: p.cfg.Transport}, h)
	if err != nil {
		return nil, nil, err
	}
	if m.shown {
		p.composer.Show(inv)
	}
	if p.cfg.Container == nil {
		return inv, nil, workdir.CheckTrust(inv)
	}
	box, err := p.inside().Wrap(inv, &h, p.cliNames())
	return inv, box, err
}

// workdir has the working directories of the backend's calls.
func (p *Provider) workdir() workdir.Backend {
	return workdir.Backend{Name: p.name, Spec: p.spec, InContainer: p.cfg.Container != nil}
}

// makeFiles makes the temporary files of the call; always call remove.
func (inv *plan) makeFiles() (remove func(), err *BackendError) {
	return workdir.MakeFiles(inv.Invocation, inv.box != nil)
}

// host is what this machine is to the CLI, where payer has to pay.
func (p *Provider) host(path string, payer call.Billing) compose.Host {
	barred := p.barred(payer)
	set, _ := p.overlay() // without it nothing is started: see wrong
	h := compose.Host{
		Path: path, Environ: grammar.Without(os.Environ(), barred), Env: grammar.Without(p.cfg.Env, barred),
		SetEnv:  grammar.Without(set, barred),
		PassEnv: p.cfg.PassEnv, InheritEnv: p.cfg.InheritEnv, RequestEnv: p.cfg.RequestEnv, Root: os.Geteuid() == 0,
	}
	p.inside().Describe(&h)
	h.CleanPath()
	return h
}

// version is that of the program, "" where its files do not tell it. Those of a container are not known.
func (p *Provider) version(path string) string {
	if p.cfg.Container != nil {
		return ""
	}
	return p.files.Version(path)
}

// barred are the patterns of the variables that are kept from the CLI so that only payer can pay.
func (p *Provider) barred(payer call.Billing) []string { return login.Barred(payer, p.spec.Login) }

// overlay is what the spec sets. A home inside a container is not known.
func (p *Provider) overlay() ([]string, error) {
	if len(p.given.SetEnv) == 0 {
		return nil, nil
	}
	vars := map[string]string{}
	grammar.SetAll(vars, os.Environ())
	at := login.PlaceOf(vars, "")
	if p.cfg.Container != nil {
		at.Home = ""
	}
	return instance.Environ(p.given, at)
}

// passed is what the CLI sees of the host's environment. It reads the files
// whose contents decide that.
func (p *Provider) passed(h *compose.Host, dir, model string) map[string]string {
	p.readFiles(h, dir)
	return h.Passed(p.spec, model)
}

// readFiles tells the host what the files of PassEnvIf say. Those of a container
// are not known.
func (p *Provider) readFiles(h *compose.Host, dir string) {
	if len(p.spec.PassEnvIf) > 0 && p.cfg.Container == nil {
		h.Shown = p.pass.Shown(login.PlaceOf(h.Passed(p.spec, ""), dir))
	}
}
