package provider

import (
	"context"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/fingerprint"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/structured"
	"github.com/clichain/clichain/runs"
)

// planned returns the plan of a call that will not start.
func (p *Provider) planned(ctx context.Context, req call.Request, m mode) (*plan, *call.Error) {
	if _, err := structured.Compile(req.Schema); err != nil {
		return nil, p.Label(err)
	}
	inv, err := p.prepare(ctx, req, m, false)
	return inv, p.Label(err)
}

// Check returns nil, or the error of a call that would be refused or skipped. It starts nothing.
func (p *Provider) Check(ctx context.Context, req call.Request) *call.Error {
	if _, err := p.planned(ctx, req, mode{output: p.Settings.Output}); err != nil {
		return err
	}
	return p.Cooling(ctx, req)
}

// CanServe reports whether a call would be planned.
func (p *Provider) CanServe(ctx context.Context, req call.Request) bool {
	_, err := p.prepare(ctx, req, mode{output: p.Settings.Output}, false)
	return err == nil
}

// Command returns what a call would start. It starts nothing and makes no file.
func (p *Provider) Command(ctx context.Context, req call.Request) (*runs.Command, *call.Error) {
	const temp = "{temp}"
	inv, err := p.planned(ctx, req, mode{output: p.Settings.Output, temp: temp, shown: true})
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
	c.Confined = inv.confined.how
	for _, r := range inv.confined.rules {
		c.Grants = append(c.Grants, runs.Grant{Path: r.Path, Access: r.Access.String()})
	}
	for _, f := range inv.Files {
		c.Files = append(c.Files, runs.File{Path: f.Path, Size: len(f.Content)})
	}
	return c, nil
}

// HoldKey identifies the kind of process that can answer the request: requests with the same key can share a
// process. The key depends on all settings that the process would be started with, and on the user's login.
// HoldKey starts nothing.
func (p *Provider) HoldKey(ctx context.Context, req call.Request) (key string, err *call.Error) {
	if failed := p.refuseContainer(); failed != nil {
		return "", failed
	}
	inv, failed := p.prepare(ctx, req, mode{output: clispec.OutputLive, temp: "temp"}, false)
	if failed != nil {
		return "", failed
	}
	h := fingerprint.New()
	h.Add(p.Name, inv.Path, inv.Dir)
	for _, list := range [][]string{inv.Args, inv.Env, inv.Guards, inv.Unwanted, inv.Call.Opening(&p.Spec.Live)} {
		h.Add(list...)
		h.Add("")
	}
	for _, f := range inv.Files {
		h.Add(f.Path, f.Content)
	}
	h.Add(inv.confined.mark()...)
	h.Add(p.Login.Mark(login.PlaceOf(inv.Call.Env, inv.Dir)))
	return h.Long(), nil
}
