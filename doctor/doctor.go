// Package doctor finds out what will work on this machine, why not, and what a
// person can do about it. It knows no CLI by name: what it looks for, and the
// hints that it gives, come from the specs.
package doctor

import (
	"cmp"
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

// Config sets what [Diagnose] does. The zero value looks at files and variables
// only.
type Config struct {
	// Probe runs each CLI's own commands for its version and its login. They use
	// no tokens.
	Probe bool
	// Ping makes one real call of each backend that seems ready. Only that proves
	// that it works; it costs what a call costs.
	Ping bool
	// ProbeTimeout bounds the probes, which run in parallel. Where answers show
	// that the machine is slow, the bound grows, up to eight times. Zero: 4 s.
	ProbeTimeout time.Duration
	// Dir is the folder that may be trusted or not. Empty: the working directory
	// of this process.
	Dir string
	// Store has the cooldowns of the backends; those of a chain are in the
	// chain's own store. Nil: no cooldowns.
	Store cooldown.Store
	// CacheDir is the folder for the versions that were found. Empty: "clichain"
	// in the user's cache folder.
	CacheDir string
}

// Report says what will work on this machine, and why not. It is a plain value
// that survives JSON and holds no secret.
type Report struct {
	Backends []Diagnosis `json:"backends"` // in the order in which they are asked
	Ready    int         `json:"ready"`    // how many of them a call would try
}

// Diagnosis is what is known of one backend.
type Diagnosis struct {
	Name           string             `json:"name"`             // of the backend
	Installed      bool               `json:"installed"`        // the program was found
	Path           string             `json:"path"`             // of the program as found, maybe a link: see RealPath
	Version        string             `json:"version"`          // by its files, or by what it says; empty: unknown
	Drift          string             `json:"drift"`            // that it is newer than its spec; empty: it is not
	Login          clispec.LoginState `json:"login"`            // what is known of its login
	Evidence       string             `json:"evidence"`         // the variable, file or command that shows it
	Billing        call.Billing       `json:"billing"`          // who would pay; empty: unknown
	RequiresAPIKey bool               `json:"requires_api_key"` // Billing is that of an API key
	SuppressedBy   string             `json:"suppressed_by"`    // the variable or setting that turns it off
	CoolingUntil   *time.Time         `json:"cooling_until"`    // the end of its cooldown; nil: there is none
	Problems       []Problem          `json:"problems"`         // why it cannot answer, followed by remarks
}

// Problem is something that a person may want to change.
type Problem struct {
	// Code is a [call.Reason] if the problem keeps the backend from answering,
	// else the name of a remark, listed in docs/reference/command.md.
	Code    string `json:"code"`
	Message string `json:"message"` // what it is
	Hint    string `json:"hint"`    // what to do, with commands in backquotes
	// Advice lists fields whose change would help, as alternatives to Hint.
	Advice []call.Advice `json:"advice,omitempty"`
}

// CodeSlow is the remark about a CLI that gave no answer to a probe in time. It
// may answer a call, which has more time.
const CodeSlow = "slow"

// Blocks reports whether the problem keeps the backend from answering.
func (p Problem) Blocks() bool { return slices.Contains(call.Reasons(), call.Reason(p.Code)) }

// Ready reports whether a call would try the backend.
func (d Diagnosis) Ready() bool {
	return d.Installed && !slices.ContainsFunc(d.Problems, Problem.Blocks)
}

// RealPath returns Path with links resolved, or Path itself if that fails.
func (d Diagnosis) RealPath() string {
	if path, err := filepath.EvalSymlinks(d.Path); err == nil {
		return path
	}
	return d.Path
}

// Diagnose says what will work on this machine. It looks at files and variables;
// only with cfg.Probe or cfg.Ping does it start programs, and then it keeps the
// versions that it found. A nil cfg means defaults. Chains are replaced by their
// backends. Custom backends are asked through their method
// Available(context.Context) error, if they have one. Diagnose is safe for
// concurrent use.
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
	for i := range report.Backends {
		b := &report.Backends[i]
		if p := subjects[i].provider; p != nil {
			b.age(p.Spec())
		}
		if b.RequiresAPIKey = b.Billing == call.BillingAPIKey; b.Ready() {
			report.Ready++
		}
	}
	return report
}

// subject is a backend to examine.
type subject struct {
	clichain.Backend
	provider *clichain.Provider // the backend, if it is one; else nil
	chain    *clichain.Chain    // has the backend's cooldown
}

// flatten replaces chains by their backends.
func flatten(backends []clichain.Backend, chain *clichain.Chain) (all []subject) {
	for _, b := range backends {
		switch b := b.(type) {
		case *clichain.Chain:
			all = append(all, flatten(b.Backends(), b)...)
		case *clichain.Provider:
			all = append(all, subject{b, b, chain})
		default:
			all = append(all, subject{b, nil, chain})
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
	if m.provider != nil {
		d.examineProvider(m.provider, &found)
	} else if b, ok := m.Backend.(interface{ Available(context.Context) error }); ok {
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

// examineProvider collects everything, even after a first problem that would
// be enough to skip the backend.
func (d *examination) examineProvider(p *clichain.Provider, found *Diagnosis) {
	status := p.Status(d.cfg.Dir)
	found.Path, found.Installed, found.Version = status.Path, status.Path != "", status.Version
	found.Login, found.Evidence, found.Billing = status.Login, status.Evidence, status.Billing
	found.SuppressedBy = status.SuppressedBy
	if status.Expired {
		message := "the credential in " + status.Evidence + " has expired, and nothing is there to renew it with"
		found.remark("credential_expired", message, p.Spec().Hints[call.ReasonUnauthenticated])
	}
	if status.Unproven {
		message := "the credential in " + status.Evidence + " proves nothing: the service refuses some accounts that have one"
		found.remark("unproven_login", message, p.Spec().Hints[call.ReasonUnauthenticated])
	}
	for _, doubt := range status.Doubts {
		found.remark("skip_list", doubt, "correct the list of backends to turn off")
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
	d.Problems = slices.Insert(d.Problems, 0, Problem{string(be.Reason), be.Detail(), be.Hint, be.Advice})
}

func (d *Diagnosis) remark(code, message, hint string) {
	d.Problems = append(d.Problems, Problem{Code: code, Message: message, Hint: hint})
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
	d.Login, d.Evidence = clispec.LoginAuthenticated, "a call"
	d.Billing = cmp.Or(resp.Billing, d.Billing)
}
