package clichain

import (
	"os"
	"path/filepath"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/container"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/session"
)

// plan is a call that may start: the invocation, who pays, and how to end what
// it leaves in a container.
type plan struct {
	*compose.Invocation
	bill *login.Bill
	box  *container.Box // nil: it runs on this machine
}

// prepare does everything that comes before the process. Without an output
// mode it takes the best there is.
func (p *Provider) prepare(req Request, output clispec.OutputMode) (*plan, *BackendError) {
	path, err := p.ready()
	if err != nil {
		return nil, err
	}
	b, err := p.admit(path, req, output)
	if err != nil {
		return nil, err
	}
	inv, box, err := p.compose(path, req, output)
	if err != nil {
		return nil, p.label(err)
	}
	return &plan{inv, b, box}, nil
}

func (p *Provider) compose(
	path string, req Request, output clispec.OutputMode,
) (*compose.Invocation, *container.Box, *BackendError) {
	if err := compose.Check(req); err != nil {
		return nil, nil, err
	}
	dir, err := p.workDir(session.Dir(req))
	if err != nil && req.Dir == "" && req.Session != "" {
		err = call.Errorf(ReasonBadSession, "session", "the directory it was made in is gone: %s", err.Message)
	}
	if err != nil {
		return nil, nil, err
	}
	if p.cfg.Container == nil {
		if req.Options, err = onThisMachine(req.Options); err != nil {
			return nil, nil, err
		}
	}
	h := p.host(path)
	if err := p.nested(h.Environ); err != nil {
		return nil, nil, err
	}
	h.Dir, h.TempDir = dir, p.tempDir()
	inv, err := p.composer.Compose(req, compose.Choice{Output: output, Transport: p.cfg.Transport}, h)
	if err != nil || p.cfg.Container == nil {
		return inv, nil, err
	}
	box, err := p.inside().Wrap(inv, &h, p.cliNames())
	return inv, box, err
}

// host is what this machine is to the CLI.
func (p *Provider) host(path string) compose.Host {
	h := compose.Host{
		Path: path, Environ: grammar.Without(os.Environ(), p.barred), Env: grammar.Without(p.cfg.Env, p.barred),
		PassEnv: p.cfg.PassEnv, InheritEnv: p.cfg.InheritEnv, Root: os.Geteuid() == 0,
	}
	p.inside().Describe(&h)
	return h
}

// workDir makes the directory absolute and checks that it is one.
func workDir(dir string) (string, *BackendError) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", call.Errorf(ReasonBadOption, "dir", "%q: %v", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", call.Errorf(ReasonBadOption, "dir", "%v", err)
	case !info.IsDir():
		return "", call.Errorf(ReasonBadOption, "dir", "%q is no directory", dir)
	}
	return abs, nil
}

// makeFiles makes the call's files, and its empty directory, in a private
// folder. The returned func removes the folder, and must always be called.
func (inv *plan) makeFiles() (remove func(), err error) {
	remove = func() {}
	if inv.Temp == "" {
		return remove, nil
	}
	if err := os.Mkdir(inv.Temp, 0o700); err != nil {
		return remove, err
	}
	remove = func() { _ = os.RemoveAll(inv.Temp) } // ours alone; nothing to do about a failure
	if inv.Empty {
		if err := os.Mkdir(inv.Dir, 0o700); err != nil {
			return remove, err
		}
	}
	for _, f := range inv.Files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return remove, err
		}
		if err := os.WriteFile(f.Path, []byte(f.Content), 0o600); err != nil {
			return remove, err
		}
	}
	return remove, nil
}
