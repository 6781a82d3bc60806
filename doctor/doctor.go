package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/machine"
)

// Config sets how closely [Diagnose] looks. The zero value looks at
// files and variables alone.
type Config struct {
	// Probe runs each CLI's own commands for its version and its login: no
	// tokens, no network of ours, but a process each.
	Probe bool
	// Ping makes one real call of each backend that seems ready: the only way
	// to know, and it costs what a call costs.
	Ping bool
	// ProbeTimeout bounds the probes, which run side by side. Zero: 4 s.
	ProbeTimeout time.Duration
	// Dir is the folder whose trust is looked at. Empty: that of this process.
	Dir string
	// Store is asked which backends rest; those of a chain rest in its own.
	// Nil: none does.
	Store cooldown.Store
	// CacheDir keeps the versions that were found. Empty: "clichain" in the
	// user's cache folder.
	CacheDir string
}

// Report says what will work here, and why not. A plain value that survives
// JSON and holds no secret.
type Report struct {
	// Backends is what was found of each, in the order of asking.
	Backends []Diagnosis `json:"backends"`
	// Ready counts those that a call would try.
	Ready int `json:"ready"`
}

// Diagnosis is what is known of one backend.
type Diagnosis struct {
	// Name is the backend's.
	Name string `json:"name"`
	// Installed: the program was found.
	Installed bool `json:"installed"`
	// Path of the program, as it was found. It may be a link: see RealPath.
	Path string `json:"path"`
	// Version is what it says, if it was asked. Empty: it was not.
	Version string `json:"version"`
	// Login is what is known of its login.
	Login clispec.LoginState `json:"login"`
	// Evidence names the variable, file or command that tells of the login.
	Evidence string `json:"evidence"`
	// Billing is who would pay. Empty: unknown.
	Billing call.Billing `json:"billing"`
	// SuppressedBy names the variable or setting that turns it off.
	SuppressedBy string `json:"suppressed_by"`
	// CoolingUntil is when it is asked again after a failure. Nil: now.
	CoolingUntil *time.Time `json:"cooling_until"`
	// Problems are the reasons why it cannot answer, then remarks.
	Problems []Problem `json:"problems"`
}

// Problem is something that a person may want to change.
type Problem struct {
	// Code is a [Reason] where the problem keeps the backend from answering,
	// and a word of its own (docs/operations.md lists them) for a remark.
	Code string `json:"code"`
	// Message says what it is.
	Message string `json:"message"`
	// Hint says what to do. Commands stand in backquotes.
	Hint string `json:"hint"`
}

// Blocks reports whether the problem keeps the backend from answering.
func (p Problem) Blocks() bool { return slices.Contains(call.Reasons(), call.Reason(p.Code)) }

// Ready reports whether a call would try the backend.
func (d Diagnosis) Ready() bool {
	for _, p := range d.Problems {
		if p.Blocks() {
			return false
		}
	}
	return d.Installed
}

// RealPath is the program that Path leads to.
func (d Diagnosis) RealPath() string {
	path, err := filepath.EvalSymlinks(d.Path)
	if err != nil {
		return d.Path
	}
	return path
}

// Diagnose says what will work here without asking a model. It looks at files
// and variables, starts nothing unless cfg says so, sends nothing, and writes
// nothing but the versions it was told. A nil cfg means defaults. The backends
// of chains are looked at one by one; of backends of other kinds it can tell
// only what their method Available(context.Context) error says, if they have
// one.
func Diagnose(ctx context.Context, backends []clichain.Backend, cfg *Config) Report {
	d := examination{surroundings: machine.Surroundings()}
	if cfg != nil {
		d.cfg = *cfg
	}
	own := clichain.ChainOf(nil, &clichain.ChainConfig{Store: d.cfg.Store, NoCooldown: d.cfg.Store == nil})
	subjects := flatten(backends, own)
	report := Report{Backends: make([]Diagnosis, len(subjects))}
	for i, m := range subjects {
		report.Backends[i] = d.examine(ctx, m)
	}
	if d.cfg.Probe {
		d.probeAll(ctx, subjects, report.Backends)
	}
	if d.cfg.Ping {
		d.pingAll(ctx, subjects, report.Backends)
	}
	for _, b := range report.Backends {
		if b.Ready() {
			report.Ready++
		}
	}
	return report
}

// subject is a backend, and the chain that knows whether it cools down.
type subject struct {
	clichain.Backend
	chain *clichain.Chain
}

// flatten takes the backends out of chains.
func flatten(backends []clichain.Backend, chain *clichain.Chain) (all []subject) {
	for _, b := range backends {
		if c, ok := b.(*clichain.Chain); ok {
			all = append(all, flatten(c.Backends(), c)...)
		} else {
			all = append(all, subject{b, chain})
		}
	}
	return all
}

// examination is one Diagnose.
type examination struct {
	cfg          Config
	surroundings []machine.Surrounding
}

func (d *examination) examine(ctx context.Context, m subject) Diagnosis {
	found := Diagnosis{Name: m.Name(), Installed: true, Login: clispec.LoginUnknown, Problems: []Problem{}}
	switch b := m.Backend.(type) {
	case *clichain.Provider:
		d.examineProvider(b, &found)
	case interface{ Available(context.Context) error }:
		found.block(b.Available(ctx))
	}
	if err := m.chain.CoolingDown(ctx, m.Backend); err != nil {
		found.CoolingUntil = new(call.AsError(found.Name, err).RetryAfter)
		if found.Ready() {
			found.block(err)
		}
	}
	return found
}

// examineProvider looks for all that can be known, also where one thing alone
// would be enough to skip the backend.
func (d *examination) examineProvider(p *clichain.Provider, found *Diagnosis) {
	status := p.Status(d.cfg.Dir)
	found.Path, found.Installed = status.Path, status.Path != ""
	found.Login, found.Evidence, found.Billing = status.Login, status.Evidence, status.Billing
	found.SuppressedBy = status.SuppressedBy
	if status.Expired {
		found.remark("credential_expired", "the credential in "+status.Evidence+" has expired, and nothing is there to renew it with",
			p.Spec().Hints[call.ReasonUnauthenticated])
	}
	found.block(status.Err)
	if found.Installed {
		d.remarks(p, found)
	}
}

// block adds a problem that keeps the backend from answering, before the
// remarks.
func (d *Diagnosis) block(err error) {
	if err == nil {
		return
	}
	be := call.AsError(d.Name, err)
	blocking := Problem{string(be.Reason), be.Detail(), be.Hint}
	d.Problems = append([]Problem{blocking}, d.Problems...)
}

func (d *Diagnosis) remark(code, message, hint string) {
	d.Problems = append(d.Problems, Problem{code, message, hint})
}

// pingAll asks each backend that seems ready.
func (d *examination) pingAll(ctx context.Context, backends []subject, found []Diagnosis) {
	var running sync.WaitGroup
	for i, b := range backends {
		if found[i].Ready() {
			running.Go(func() { found[i].ping(ctx, b.Backend) })
		}
	}
	running.Wait()
}

const pingText = "Answer with the word OK."

func (d *Diagnosis) ping(ctx context.Context, b clichain.Backend) {
	resp, err := b.Complete(ctx, call.Prompt(pingText))
	if err != nil {
		d.block(err)
		if errors.Is(err, call.ErrUnauthenticated) {
			d.Login, d.Evidence = clispec.LoginInstalled, "a call"
		}
		return
	}
	d.Login = clispec.LoginAuthenticated
	d.Evidence = "a call"
	if resp.Billing != call.BillingUnknown {
		d.Billing = resp.Billing
	}
}
