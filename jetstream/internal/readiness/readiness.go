// Package readiness determines whether a worker can run jobs of a class now.
package readiness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/reasons"
	"github.com/clichain/clichain/permit"
)

// State says whether a worker takes the jobs of a class.
type State struct {
	Until   time.Time // when it takes them, because of a cooldown; zero: now
	Why     string    // why it takes none; empty: it takes them
	Cooling int       // how many of its backends are in cooldown for these jobs
}

// Now reports whether the worker takes jobs at a time.
func (s State) Now(at time.Time) bool { return s.Why == "" && !s.Until.After(at) }

// MaxAge bounds how long a worker relies on the known state of its backends and classes: a user may have cleared a
// cooldown or installed a CLI.
const MaxAge = time.Second

// Worker describes which jobs a worker can run.
type Worker struct {
	Chain       *clichain.Chain // nil: the state of its backends is not known
	Permissions permit.Permissions
	Alone       bool // it also takes jobs that it cannot run
	Protocol    int  // the latest version that it runs
}

// Checker checks the classes for one worker. It is safe for concurrent use.
type Checker struct {
	worker Worker

	mu     sync.Mutex
	known  map[string]known // by class
	denied map[string]State
}

type known struct {
	State
	at time.Time
}

// New returns a Checker.
func New(w Worker) *Checker {
	return &Checker{worker: w, known: map[string]known{}, denied: map[string]State{}}
}

// Of returns the state for the jobs of a class now.
func (c *Checker) Of(ctx context.Context, class string, needs *classes.Needs) State {
	now := time.Now()
	c.mu.Lock()
	found, denied := c.known[class], c.denied[class]
	c.mu.Unlock()
	if now.Sub(found.at) > MaxAge {
		found = known{c.check(ctx, needs), now}
		c.mu.Lock()
		c.known[class] = found
		c.mu.Unlock()
	}
	switch {
	case found.Why != "" || !denied.Until.After(now):
		return found.State
	case denied.Why == "" && found.Cooling < denied.Cooling: // a user has cleared a cooldown
		c.Deny(class, State{})
		return found.State
	case denied.Why != "":
		return State{Why: denied.Why}
	}
	if found.Until.Before(denied.Until) {
		found.Until = denied.Until
	}
	return found.State
}

// Deny keeps the worker from the jobs of a class until a time. If Why is set, the worker does not take them;
// otherwise they wait for the end of a limit.
func (c *Checker) Deny(class string, s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.denied[class] = s
}

// DenyLimit is Deny for a limit, unless the worker takes jobs of the class sooner.
func (c *Checker) DenyLimit(class string, s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.denied[class]; d.Why != "" || !d.Until.After(time.Now()) || s.Until.Before(d.Until) {
		c.denied[class] = s
	}
}

// Forget makes the next Of check the backends again.
func (c *Checker) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
}

// check checks the permissions and the backends for the needs of a class.
func (c *Checker) check(ctx context.Context, n *classes.Needs) State {
	w := &c.worker
	switch {
	case n == nil:
		return State{Why: "its needs cannot be read"}
	case n.Protocol > w.Protocol:
		return State{Why: fmt.Sprintf("it needs protocol %d, and this worker has protocol %d", n.Protocol, w.Protocol)}
	}
	req := n.Request.Clone()
	req.Messages = clichain.Prompt("x").Messages
	if n.Session != "" {
		req.Session = n.Session + ":x"
	}
	if _, err := w.Permissions.Apply(req); err != nil && !w.Alone {
		return State{Why: err.Error()}
	}
	req.Session = "" // the call determines whether the session exists
	if w.Chain == nil {
		return State{}
	}
	s := w.checkBackends(ctx, n, req)
	if w.Alone {
		s.Why = ""
	}
	return s
}

func (w *Worker) checkBackends(ctx context.Context, n *classes.Needs, req clichain.Request) (s State) {
	takes, why := false, ""
	for _, b := range w.Chain.Backends() {
		if n.Session != "" && b.Name() != n.Session {
			continue
		}
		err := w.Chain.Check(ctx, b, req)
		be, _ := errors.AsType[*clichain.BackendError](err)
		switch {
		case err == nil, n.Request.Dir == "" && refusesDir(be): // the job may have another directory
			takes = true
		case be == nil || !reasons.Limits.Has(be.Reason) || be.RetryAfter.IsZero():
			why = cmp.Or(why, err.Error())
		default:
			if s.Cooling++; s.Until.IsZero() || be.RetryAfter.Before(s.Until) {
				s.Until = be.RetryAfter
			}
		}
	}
	switch {
	case takes:
		s.Until = time.Time{}
	case s.Cooling > 0:
	case why == "" && n.Session != "":
		s.Why = "it has no backend " + n.Session
	default:
		s.Why = cmp.Or(why, "it has no backends")
	}
	return s
}

// refusesDir reports whether a backend refuses a directory.
func refusesDir(err *clichain.BackendError) bool {
	return err != nil && (err.Reason == clichain.ReasonUntrustedDir || err.Option == "dir")
}
