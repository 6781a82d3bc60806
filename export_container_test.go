package clichain

// Boxed is an invocation in a container, and how what it leaves is ended.
type Boxed struct {
	Invocation
	Stop, End []string
}

// ComposeIn is Compose for a container.
func (e *Engine) ComposeIn(c Container, req Request, w Wish, h Host) (*Boxed, *BackendError) {
	v := (*vessel)(&c)
	p := &Provider{spec: e.composer.spec, cfg: Config{Container: &c}}
	at := hostFrom(h)
	v.describe(&at)
	inv, err := e.composer.compose(req, choice{w.Output, w.Transport}, at)
	if err != nil {
		return nil, err
	}
	box, err := v.wrap(inv, &at, p.cliNames())
	if err != nil {
		return nil, err
	}
	boxed := &Boxed{Stop: box.stop, End: box.end}
	boxed.Path, boxed.Args, boxed.Env, boxed.Dir, boxed.Stdin = inv.path, inv.args, inv.env, inv.dir, inv.stdin
	return boxed, nil
}

// SweepScript ends what a call has left in a container.
var SweepScript = sweepScript
