package workspace

import (
	"context"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/workspace/internal/check"
)

// DefaultCheckTimeout is the default of Config.CheckTimeout.
const DefaultCheckTimeout = 10 * time.Minute

// Config configures [New]. The zero value works.
type Config struct {
	// Checks are commands that must succeed in the copy after the backend has answered, each as a program and its
	// arguments. A name without a slash is looked up on PATH, and a relative path starts in Request.Dir. No shell is
	// involved. The first command that fails makes the attempt fail with the reason rejected. Nil: no check.
	Checks [][]string
	// CheckTimeout limits the time of one command of Checks. Zero: DefaultCheckTimeout.
	CheckTimeout time.Duration
	// Carry lists paths that the repository ignores and that the copy needs, such as "node_modules", relative to
	// Request.Dir. Changes in them are not returned. Nil: none.
	Carry []string
	// MaxBytes limits the size of the copied files that git does not track, without those of Carry. Zero: 1 GiB.
	MaxBytes int64
	// AssumeIsolated tells that an attempt cannot change anything outside the copy, although clichain did not confine
	// it. For example, the whole program runs in a container that is made for the call. A chain then continues after
	// an attempt that failed.
	AssumeIsolated bool
	// LocalTools are names of further tools that change nothing outside the copy, as in Event.Name. An attempt that
	// used another tool ends the chain if it fails. The built-in tools of the built-in CLIs are always in the list.
	LocalTools []string
}

// New returns a backend that lets another backend work in a private copy of Request.Dir, for requests with AccessWrite.
// Response.Changes has the changes, and [Apply] makes them in the directory. Requests with less access are passed
// unchanged. Requests with AccessFull, a Session, Options.Continue, Options.SessionID or Options.AddDirs fail with
// unsupported. Answers have no Session, because the directory of the session is gone.
//
// Wrap each backend of a chain, and not the chain: each attempt then begins with a new copy. New copies cfg; nil means
// the zero Config. The backend is safe for concurrent use if the other one is.
func New(backend clichain.Backend, cfg *Config) clichain.Backend {
	w := &wrapper{inner: backend}
	if cfg != nil {
		w.cfg = *cfg
	}
	w.cfg.Checks, w.cfg.Carry = slices.Clone(w.cfg.Checks), slices.Clone(w.cfg.Carry)
	if w.cfg.CheckTimeout <= 0 {
		w.cfg.CheckTimeout = DefaultCheckTimeout
	}
	w.provider = providerOf(backend)
	return w
}

// wrapper is the backend that New returns.
type wrapper struct {
	inner    clichain.Backend
	provider *clichain.Provider // nil: the inner backend is no Provider and wraps none
	cfg      Config
}

// providerOf returns the Provider that a backend is or wraps, or nil.
func providerOf(b clichain.Backend) *clichain.Provider {
	for {
		if p, ok := b.(*clichain.Provider); ok {
			return p
		}
		outer, ok := b.(interface{ Unwrap() clichain.Backend })
		if !ok {
			return nil
		}
		b = outer.Unwrap()
	}
}

// Name returns the name of the wrapped backend.
func (w *wrapper) Name() string { return w.inner.Name() }

// Unwrap returns the wrapped backend.
func (w *wrapper) Unwrap() clichain.Backend { return w.inner }

// Available returns the result of the wrapped backend if it has this method.
func (w *wrapper) Available(ctx context.Context) error {
	if b, ok := w.inner.(interface{ Available(context.Context) error }); ok {
		return b.Available(ctx)
	}
	return nil
}

// Check returns nil, or the error with which a call of the request would be refused. It copies nothing.
func (w *wrapper) Check(ctx context.Context, req clichain.Request) error {
	if req.Access >= call.AccessWrite {
		if _, err := w.plan(ctx, req); err != nil {
			return err
		}
	}
	if b, ok := w.inner.(interface {
		Check(context.Context, clichain.Request) error
	}); ok {
		return b.Check(ctx, req)
	}
	return nil
}

// Complete answers the request.
func (w *wrapper) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	if req.Access < call.AccessWrite {
		return w.inner.Complete(ctx, req)
	}
	return call.Collect(w.Stream(ctx, req))
}

// Stream answers the request and yields the events of the wrapped backend.
func (w *wrapper) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	if req.Access < call.AccessWrite {
		return w.inner.Stream(ctx, req)
	}
	return call.Once(func(yield func(clichain.Event, error) bool) {
		p, err := w.plan(ctx, req)
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		p.stream(ctx, yield)
	})
}

// plan is a call that may start.
type plan struct {
	*wrapper
	req clichain.Request
	dir string // the absolute path of the original directory
	// confined is what would confine a run in the original directory, as in Response.Confined.
	confined string
	shown    clispec.ToolEvents
	passed   []string // the environment variables of the CLI, by name
	checks   check.Settings
}

// plan refuses a request that cannot run in a copy. It copies and starts nothing.
func (w *wrapper) plan(ctx context.Context, req clichain.Request) (*plan, error) {
	failed := unsupported(&req)
	if failed == nil {
		failed = compose.Check(req)
	}
	req.Threads = session.WithoutSessions(req.Threads)
	p := &plan{wrapper: w, req: req}
	if failed == nil {
		failed = p.find()
	}
	if failed == nil && w.provider != nil {
		if w.provider.Config().Container != nil {
			failed = refused("config.container", "the container of the CLI does not have the private copy of the directory")
		} else if err := p.consult(ctx); err != nil {
			return nil, err
		}
	}
	if failed != nil {
		failed.Backend, failed.Stage = w.Name(), call.StageSkipped
		return nil, failed
	}
	return p, w.prepareChecks(p)
}

func refused(field, message string) *call.Error {
	return call.Errorf(call.ReasonUnsupported, field, "%s", message)
}

// unsupported returns an error for a request that cannot run in a copy.
func unsupported(req *clichain.Request) *call.Error {
	switch o := &req.Options; {
	case req.Access > call.AccessWrite:
		return refused("access", "an agent with full access could change more than the private copy: use access write")
	case req.Session != "":
		return refused("session", "a session cannot be continued in a private copy of its directory")
	case o.Continue:
		return refused("continue", "a session cannot be continued in a private copy of its directory")
	case o.SessionID != "":
		return refused("session_id", "a session that was created in a private copy cannot be continued later")
	case len(o.AddDirs) > 0:
		return refused("add_dirs", "an agent would change further directories directly, because only dir is copied")
	}
	return nil
}

// find sets the directory, which is that of this process by default.
func (p *plan) find() *call.Error {
	dir, err := filepath.Abs(p.req.Dir)
	if err != nil {
		return call.Errorf(call.ReasonBadOption, "dir", "%q: %v", p.req.Dir, err)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return call.Errorf(call.ReasonBadOption, "dir", "%v", err)
	case !info.IsDir():
		return call.Errorf(call.ReasonBadOption, "dir", "%q is not a directory", dir)
	}
	p.dir, p.req.Dir = dir, dir
	return nil
}

// consult asks the Provider how it would run the request in the original directory. So a directory that is not trusted
// is refused before it is copied.
func (p *plan) consult(ctx context.Context) error {
	command, err := p.provider.Command(ctx, p.req)
	if err != nil {
		return err
	}
	p.confined, p.passed = command.Confined, command.Env
	spec := p.provider.Spec()
	p.shown = spec.ToolEventsIn(clispec.OutputMode(command.Output))
	return nil
}

// prepareChecks gives the checks the rights of the agent.
func (w *wrapper) prepareChecks(p *plan) error {
	var env map[string]string
	if w.provider != nil {
		cfg := w.provider.Config()
		env = w.provider.Environ()
		maps.DeleteFunc(env, func(name, _ string) bool { return !slices.Contains(p.passed, name) })
		p.checks = check.Settings{
			Confine: cfg.Confine, ReadPaths: cfg.ReadPaths, WritePaths: cfg.WritePaths, CachePaths: cfg.CachePaths,
			Shim: cfg.Shim, Cgroup: cfg.Cgroup,
		}
	} else {
		host := compose.Host{Environ: os.Environ(), Confined: true}
		env = host.Passed(&clispec.Spec{}, "")
	}
	p.checks.Timeout = w.cfg.CheckTimeout
	maps.Copy(env, p.req.Env)
	env["CLICHAIN_BACKEND"] = w.Name()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		p.checks.Env = append(p.checks.Env, name+"="+env[name])
	}
	for _, args := range w.cfg.Checks {
		if failed := p.checks.Missing(args, p.dir); failed != nil {
			failed.Backend = w.Name()
			return failed
		}
	}
	return nil
}

// isolates reports whether a value of Response.Confined names a confinement.
func isolates(confined string) bool { return confined != "" && !strings.HasPrefix(confined, "no: ") }
