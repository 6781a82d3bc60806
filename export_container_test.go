package clichain

// Boxed is an invocation in a container, and how what it leaves is ended.
type Boxed struct {
	Invocation
	Stop, End []string
}

// ComposeIn is Compose for a container.
func (e *Engine) ComposeIn(c Container, req Request, w Wish, h Host) (*Boxed, *BackendError) {
	p := &Provider{spec: e.spec, cfg: Config{Container: &c}}
	inv, err := compose(e.spec, req, wish{w.Output, w.Transport}, host{
		path: h.Path, environ: h.Environ, env: h.Env, passEnv: h.PassEnv, inheritEnv: h.InheritEnv, root: h.Root, dir: h.Dir, tempDir: h.TempDir,
		container: &c, names: p.cliNames(),
	})
	if err != nil {
		return nil, err
	}
	boxed := &Boxed{Stop: inv.box.stop, End: inv.box.end}
	boxed.Path, boxed.Args, boxed.Env, boxed.Dir, boxed.Stdin = inv.path, inv.args, inv.env, inv.dir, inv.stdin
	return boxed, nil
}

// SweepScript ends what a call has left in a container.
var SweepScript = sweepScript
