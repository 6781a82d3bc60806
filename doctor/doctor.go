// Package doctor reports which backends work on this machine, why others do not, and what the user can do. The checks
// and the hints come from the specs.
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
	"github.com/clichain/clichain/quota"
)

// Config configures [Diagnose]. With the zero value, Diagnose only reads files and environment variables.
type Config struct {
	// Probe runs commands of each CLI that print its version and its login. They use no tokens.
	Probe bool
	// Ping makes a real call of each backend that seems ready. Only a real call proves that a backend works. It costs
	// as much as any other call.
	Ping bool
	// ProbeTimeout limits the probes, which run concurrently. On a slow machine, the limit grows up to eight times.
	// Zero: 4 s.
	ProbeTimeout time.Duration
	// Dir is the directory whose trust is checked. Empty: the working directory of this process.
	Dir string
	// Store has the cooldowns of the backends and, if it is a [cooldown.QuotaStore], their usage windows. A chain has
	// its own store. Nil: no cooldowns and windows.
	Store cooldown.Store
	// CacheDir is the directory for the versions that were found. Empty: "clichain" in the cache directory of the
	// user.
	CacheDir string
}

// Report lists the backends and whether they work. It is a plain value that can be stored as JSON and contains no
// secrets.
type Report struct {
	Backends []Diagnosis `json:"backends"` // in the order of the argument
	Ready    int         `json:"ready"`    // the number of backends that a call would ask
}

// Diagnosis is the state of one backend.
type Diagnosis struct {
	Name           string             `json:"name"`             // of the backend
	Installed      bool               `json:"installed"`        // the program was found
	Path           string             `json:"path"`             // path of the program, maybe a link: see RealPath
	Version        string             `json:"version"`          // from its files or its output; empty: unknown
	Drift          string             `json:"drift"`            // a note if it is newer than its spec; empty: it is not
	Login          clispec.LoginState `json:"login"`            // the state of the login
	Evidence       string             `json:"evidence"`         // the variable, file or command that proves it
	Billing        call.Billing       `json:"billing"`          // who would pay; empty: unknown
	RequiresAPIKey bool               `json:"requires_api_key"` // Billing is BillingAPIKey
	Confined       map[string]string  `json:"confined"`         // what would confine a call, by its access
	SuppressedBy   string             `json:"suppressed_by"`    // the variable or setting that turns the backend off
	CoolingUntil   *time.Time         `json:"cooling_until"`    // the end of its cooldown; nil: not in cooldown
	Window         *call.QuotaWindow  `json:"window"`           // the fullest usage window of its account; nil: unknown
	Problems       []Problem          `json:"problems"`         // reasons why it cannot answer, followed by remarks
}

// Problem is something that the user may want to change.
type Problem struct {
	// Code is a [call.Reason] if the problem prevents an answer. Otherwise it is the name of a remark;
	// docs/how-to/operations.md lists them.
	Code    string `json:"code"`
	Message string `json:"message"` // the problem
	Hint    string `json:"hint"`    // the next step, with commands in backquotes
	// Advice lists changes of fields that would help, as alternatives to Hint.
	Advice []call.Advice `json:"advice,omitempty"`
}

// CodeSlow is the code of the remark that a CLI did not answer a probe in time. It may answer a call, which has more
// time.
const CodeSlow = "slow"

// Blocks reports whether the problem prevents the backend from answering.
func (p Problem) Blocks() bool { return slices.Contains(call.Reasons(), call.Reason(p.Code)) }

// Ready reports whether a call would ask the backend.
func (d Diagnosis) Ready() bool {
	return d.Installed && !slices.ContainsFunc(d.Problems, Problem.Blocks)
}

// RealPath returns Path with symbolic links resolved, or Path if that fails.
func (d Diagnosis) RealPath() string {
	if path, err := filepath.EvalSymlinks(d.Path); err == nil {
		return path
	}
	return d.Path
}

// Diagnose reports which backends work on this machine. It reads files and environment variables. Only with cfg.Probe
// or cfg.Ping it starts programs, and it then caches their versions. A nil cfg means the defaults. Chains are
// replaced by their backends. For a custom backend, Diagnose calls its method Available(context.Context) error if it
// has one. Diagnose is safe for concurrent use.
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
	chain    *clichain.Chain    // has the cooldown of the backend
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

// examination is one call of Diagnose.
type examination struct {
	cfg          Config
	surroundings []machine.Surrounding
}

func (d *examination) examine(ctx context.Context, m subject) Diagnosis {
	found := Diagnosis{Name: m.Name(), Installed: true, Login: clispec.LoginUnknown, Problems: []Problem{}}
	if m.provider != nil {
		d.examineProvider(ctx, m.provider, &found)
	} else if b, ok := m.Backend.(interface{ Available(context.Context) error }); ok {
		found.block(b.Available(ctx))
	}
	if w, ok := quota.Fullest(m.chain.Quota(ctx, m.Backend), time.Now()); ok {
		found.Window = &w
	}
	if err := m.chain.CoolingDown(ctx, m.Backend); err != nil {
		found.CoolingUntil = new(call.AsError(found.Name, err).RetryAfter)
		if found.Ready() {
			found.block(err)
		}
	}
	return found
}

// examineProvider reports all problems, although the first may already prevent an answer.
func (d *examination) examineProvider(ctx context.Context, p *clichain.Provider, found *Diagnosis) {
	status := p.Status(d.cfg.Dir)
	found.Path, found.Installed, found.Version = status.Path, status.Path != "", status.Version
	found.Login, found.Evidence, found.Billing = status.Login, status.Evidence, status.Billing
	found.SuppressedBy, found.Confined = status.SuppressedBy, map[string]string{}
	for access, how := range status.Confined {
		found.Confined[access.String()] = how
	}
	if status.Expired {
		message := "the credential in " + status.Evidence + " has expired and cannot be renewed"
		found.remark("credential_expired", message, p.Spec().Hints[call.ReasonUnauthenticated])
	}
	if status.Unproven {
		message := "the credential in " + status.Evidence + " does not prove a login: the service refuses some accounts"
		found.remark("unproven_login", message, p.Spec().Hints[call.ReasonUnauthenticated])
	}
	for _, doubt := range status.Doubts {
		found.remark("skip_list", doubt, "correct the list of backends to turn off")
	}
	found.block(status.Err)
	if _, err := p.Command(ctx, call.Prompt(pingText)); errors.Is(err, call.ErrUnconfined) {
		found.block(err)
	}
	if found.Installed {
		d.remarks(p, found)
	}
}

// block adds a problem that prevents an answer, before the remarks.
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

// pingAll calls each backend that seems ready.
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
