package clichain

import (
	"os"
	"path/filepath"
)

// plan is a call that may start: the invocation, who pays, and how to end what
// it leaves in a container.
type plan struct {
	*invocation
	bill *bill
	box  *box // nil: it runs on this machine
}

// prepare does everything that comes before the process. Without an output
// mode it takes the best there is.
func (p *Provider) prepare(req Request, output OutputMode) (*plan, *BackendError) {
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
		p.label(err)
		return nil, err
	}
	return &plan{inv, b, box}, nil
}

func (p *Provider) compose(path string, req Request, output OutputMode) (*invocation, *box, *BackendError) {
	if err := checkRequest(req); err != nil {
		return nil, nil, err
	}
	dir, err := p.workDir(dirFor(req))
	if err != nil && req.Dir == "" && req.Session != "" {
		err = errorf(ReasonBadSession, "session", "the directory it was made in is gone: %s", err.Message)
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
	if err := p.nested(h.environ); err != nil {
		return nil, nil, err
	}
	h.dir, h.tempDir = dir, p.tempDir()
	inv, err := p.composer.compose(req, choice{output: output, transport: p.cfg.Transport}, h)
	if err != nil || p.cfg.Container == nil {
		return inv, nil, err
	}
	box, err := p.inside().wrap(inv, &h, p.cliNames())
	return inv, box, err
}

// host is what this machine is to the CLI.
func (p *Provider) host(path string) host {
	h := host{
		path: path, environ: withoutEnv(os.Environ(), p.barred), env: withoutEnv(p.cfg.Env, p.barred),
		passEnv: p.cfg.PassEnv, inheritEnv: p.cfg.InheritEnv, root: os.Geteuid() == 0,
	}
	p.inside().describe(&h)
	return h
}

// workDir makes the directory absolute and checks that it is one.
func workDir(dir string) (string, *BackendError) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", errorf(ReasonBadOption, "dir", "%q: %v", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", errorf(ReasonBadOption, "dir", "%v", err)
	case !info.IsDir():
		return "", errorf(ReasonBadOption, "dir", "%q is no directory", dir)
	}
	return abs, nil
}

// makeFiles makes the call's files, and its empty directory, in a private
// folder. The returned func removes the folder, and must always be called.
func (inv *plan) makeFiles() (remove func(), err error) {
	remove = func() {}
	if inv.temp == "" {
		return remove, nil
	}
	if err := os.Mkdir(inv.temp, 0o700); err != nil {
		return remove, err
	}
	remove = func() { _ = os.RemoveAll(inv.temp) } // ours alone; nothing to do about a failure
	if inv.empty {
		if err := os.Mkdir(inv.dir, 0o700); err != nil {
			return remove, err
		}
	}
	for _, f := range inv.files {
		if err := os.WriteFile(f.path, []byte(f.content), 0o600); err != nil {
			return remove, err
		}
	}
	return remove, nil
}
