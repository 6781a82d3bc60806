package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
)

// outlook is what a worker can do for the jobs of a class.
type outlook struct {
	until   time.Time // when it takes them, in cooldown until then; zero: now
	why     string    // why it takes none; empty: it does
	cooling int       // how many of its backends are in cooldown for them
}

func (o outlook) now(at time.Time) bool { return o.why == "" && !o.until.After(at) }

// lookEvery bounds how long a worker relies on what it knew of its backends and of the classes: somebody may
// have cleared a cooldown or installed a CLI.
const lookEvery = time.Second

// denyFor is how long a worker takes no job of a class after one that it could not run, though it looked as if it
// could.
const denyFor = time.Minute

// judgment is an outlook as it was found.
type judgment struct {
	outlook
	at time.Time
}

// outlook is what the worker can do for the jobs of a class now.
func (w *worker) outlook(ctx context.Context, class string, n *needs) outlook {
	now := time.Now()
	w.mu.Lock()
	known, denied := w.judged[class], w.denied[class]
	w.mu.Unlock()
	if now.Sub(known.at) > lookEvery {
		known = judgment{w.judge(ctx, n), now}
		w.mu.Lock()
		w.judged[class] = known
		w.mu.Unlock()
	}
	switch {
	case known.why != "" || !denied.until.After(now):
		return known.outlook
	case denied.why == "" && known.cooling < denied.cooling: // somebody has ended a cooldown
		w.deny(class, outlook{})
		return known.outlook
	case denied.why != "":
		return outlook{why: denied.why}
	}
	known.until = later(known.until, denied.until)
	return known.outlook
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// deny keeps the worker from the jobs of a class until a time: with a reason it does not take them, without one they
// wait for the end of a limit.
func (w *worker) deny(class string, o outlook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.denied[class] = o
}

// denyFirst is deny, unless the worker takes jobs of the class sooner.
func (w *worker) denyFirst(class string, o outlook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.denied[class]; known.why != "" || !known.until.After(time.Now()) || o.until.Before(known.until) {
		w.denied[class] = o
	}
}

// reconsider has the worker look at its backends again.
func (w *worker) reconsider() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.judged)
}

// takes reports whether the worker takes jobs of a class now.
func (w *worker) takes(ctx context.Context, t *taker) bool {
	o := w.outlook(ctx, t.class, t.needs)
	if o.why != "" && t.needs != nil && t.needs.Protocol > w.protocol {
		w.mu.Lock()
		told := w.newer
		w.newer = true
		w.mu.Unlock()
		if !told {
			w.Logger.WarnContext(ctx, "jobs are left to workers of a later version", "queue", w.q.cfg.Name,
				"protocol", t.needs.Protocol, "worker_protocol", w.protocol)
		}
	}
	return o.now(time.Now())
}

// judge finds what the permissions and the backends say of the needs of a class.
func (w *worker) judge(ctx context.Context, n *needs) outlook {
	switch {
	case n == nil:
		return outlook{why: "its needs cannot be read"}
	case n.Protocol > w.protocol:
		return outlook{why: fmt.Sprintf("it needs a worker of protocol %d, and this one has %d", n.Protocol, w.protocol)}
	}
	req := n.Request.Clone()
	req.Messages = clichain.Prompt("x").Messages
	if n.Session != "" {
		req.Session = n.Session + ":x"
	}
	if _, err := w.Permissions.Apply(req); err != nil && !w.Alone {
		return outlook{why: err.Error()}
	}
	req.Session = "" // whether there is one is for the call to find out
	if w.Chain == nil {
		return outlook{}
	}
	o := w.ask(ctx, n, req)
	if w.Alone {
		o.why = ""
	}
	return o
}

// ofDir reports whether a backend refuses a directory.
func ofDir(err *clichain.BackendError) bool {
	return err != nil && (err.Reason == clichain.ReasonUntrustedDir || err.Option == "dir")
}

// ask asks the backends of the chain.
func (w *worker) ask(ctx context.Context, n *needs, req clichain.Request) outlook {
	var o outlook
	takes, why := false, ""
	for _, b := range w.Chain.Backends() {
		if n.Session != "" && b.Name() != n.Session {
			continue
		}
		err := w.Chain.Check(ctx, b, req)
		be, _ := errors.AsType[*clichain.BackendError](err)
		switch {
		case err == nil, n.Request.Dir == "" && ofDir(be): // the directory of the job may be another one
			takes = true
		case be == nil || !slices.Contains(limits, be.Reason) || be.RetryAfter.IsZero():
			why = cmp.Or(why, err.Error())
		default:
			if o.cooling++; o.until.IsZero() || be.RetryAfter.Before(o.until) {
				o.until = be.RetryAfter
			}
		}
	}
	switch {
	case takes:
		o.until = time.Time{}
	case o.cooling > 0:
	case why == "" && n.Session != "":
		o.why = "it has no backend " + n.Session
	default:
		o.why = cmp.Or(why, "it has no backends")
	}
	return o
}
