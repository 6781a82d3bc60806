package provider

import (
	"context"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/container"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/sessionfile"
	"github.com/clichain/clichain/internal/workdir"
)

// plan is a call that may start.
type plan struct {
	*compose.Invocation
	bill *login.Bill    // which account pays
	box  *container.Box // nil: the CLI runs on this machine

	known    *session.Record // of the session to continue
	confined confinement
	mode     mode // the mode of the composed invocation
}

// mode is how the CLI runs.
type mode struct {
	output clispec.OutputMode // "": the best mode of the spec
	after  bool               // after an attempt whose stream broke off
	temp   string             // the directory of the call's files; "": a new one
	asks   bool               // the caller answers questions of the CLI
	talks  bool               // the process serves one conversation
	shown  bool               // for display: texts are replaced by their size
	starts bool               // the CLI will start, so its working directory is created

	trace, traceState string          // of the call's span, as in call.WithTrace
	tools             *call.HostTools // functions of the caller, or nil
}

// prepare does everything that precedes the start of the process. It starts nothing, except the status command
// of the CLI if starts is set.
func (p *Provider) prepare(
	ctx context.Context, req call.Request, m mode, starts bool,
) (*plan, *call.Error) {
	path, err := p.Find()
	if err != nil {
		return nil, err
	}
	if err := compose.Check(req); err != nil {
		return nil, p.Label(err)
	}
	req = session.Resume(p.Name, req)
	known := sessionfile.Known(p.Name, req)
	b, err := p.Admit(ctx, path, req, session.Dir(req, known), starts)
	if err != nil {
		return nil, err
	}
	if m.temp == "" {
		m.temp = p.TempDir()
	}
	m.trace, m.traceState = call.TraceOf(ctx)
	if m.tools = call.HostToolsOf(ctx); m.tools != nil && p.InContainer() {
		return nil, p.Label(call.Errorf(call.ReasonUnsupported, "tools",
			"a CLI in a container cannot reach the functions of the caller"))
	}
	m.starts = starts
	inv, box, err := p.compose(path, req, known, m)
	if err != nil {
		return nil, p.Label(err)
	}
	confined, err := p.confine(inv, starts)
	if err != nil {
		return nil, p.Label(err)
	}
	return &plan{inv, b, box, known, confined, m}, nil
}

func (p *Provider) compose(
	path string, req call.Request, known *session.Record, m mode,
) (*compose.Invocation, *container.Box, *call.Error) {
	dir, err := p.Workdir().Dir(req, session.Dir(req, known), m.starts)
	if err != nil {
		return nil, nil, err
	}
	if !p.InContainer() {
		if req.Options, err = workdir.ResolveOptions(req.Options); err != nil {
			return nil, nil, err
		}
	}
	h := p.Host(path, p.Payer(req))
	if err := p.Nested(); err != nil {
		return nil, nil, err
	}
	h.Dir, h.RealDir, h.TempDir, h.TrustDir, h.Known = dir, dir, m.temp, p.Settings.TrustDir, known
	h.Agent, h.Asks, h.Conversation, h.Version = p.Settings.Agent, m.asks, m.talks, p.Version(path)
	h.Trace, h.TraceState, h.Tools = m.trace, m.traceState, m.tools
	if !p.InContainer() {
		h.RealDir = workdir.RealPath(dir)
	}
	how, kernel, cannot := p.Confined(path, req.Access)
	if cannot != nil {
		return nil, nil, refused(cannot.Error(), withoutConfinement)
	}
	h.Confined = kernel
	p.ReadFiles(&h, dir)
	if h.Tools != nil || req.Access == call.AccessNone {
		h.Servers = backend.OwnServers(&p.Backend, &h, dir)
	}
	inv, err := p.Composer.Compose(req, compose.Choice{Output: m.output, Transport: p.Settings.Transport}, h)
	if err != nil {
		return nil, nil, err
	}
	if m.shown {
		p.Composer.Show(inv)
	}
	if inv.Confined, inv.Kernel = how, h.Confined; inv.Kernel {
		giveTemp(inv, m.temp)
	}
	if !p.InContainer() {
		return inv, nil, workdir.CheckTrust(inv)
	}
	box, err := p.Settings.Container.Wrap(inv, &h, p.CLINames())
	return inv, box, err
}

// of returns the plan of one turn of the process that this plan has started.
func (c *plan) of(turn *compose.Call) *plan {
	inv := *c.Invocation
	inv.Call = turn
	return &plan{&inv, c.bill, c.box, c.known, c.confined, c.mode}
}

// makeFiles creates the temporary files of the call. Always call remove.
func (c *plan) makeFiles() (remove func(), err *call.Error) {
	return workdir.MakeFiles(c.Invocation, c.box != nil)
}
