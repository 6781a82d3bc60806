package clichain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
)

// row is one row of the decision table: what may follow a failure.
type row struct {
	skip  bool          // the backend was not started; the next one is tried
	again bool          // the same backend, once, after a back-off
	next  bool          // the next backend
	cools cooldown.Rule // how long later calls pass it over
}

// Rule takes the place of a row of the decision table; see ChainConfig.Policy.
// The zero value goes on to the next backend, without a cooldown.
type Rule struct {
	// Stop ends the chain: no further backend is asked.
	Stop bool
	// Cooldown is how long later calls pass the backend over.
	Cooldown cooldown.Rule
}

// The cooldowns of the decision table. Rows that share one count their failures
// in a row together.
var (
	// Somebody has to do something, and will not say when it is done.
	loginCooldown = cooldown.Rule{Base: 10 * time.Minute, Scope: cooldown.ScopeLogin}
	setupCooldown = cooldown.Rule{Base: 10 * time.Minute, Scope: cooldown.ScopeRequest}

	rateCooldown    = cooldown.Rule{Base: 30 * time.Second, Cap: 10 * time.Minute}
	usageCooldown   = cooldown.Rule{Base: 5 * time.Minute, Cap: time.Hour}
	billingCooldown = cooldown.Rule{Base: time.Hour}
	serviceCooldown = cooldown.Rule{Base: 30 * time.Second, Cap: 5 * time.Minute}
	// The request may be at fault: whoever sends three that fail must not take the backend from everybody.
	runCooldown = cooldown.Rule{Base: 30 * time.Second, Cap: 5 * time.Minute, After: 3, Confirm: true}
)

// policy is the decision table of docs/errors.md. It is the only place that
// says what a Reason leads to.
var policy = map[Reason]row{
	ReasonSuppressed:    {skip: true, next: true},
	ReasonNotInstalled:  {skip: true, next: true},
	ReasonUnsupported:   {skip: true, next: true},
	ReasonModelMismatch: {skip: true, next: true},
	ReasonCoolingDown:   {skip: true, next: true},
	ReasonBudgetSpent:   {skip: true, next: true},

	ReasonUnauthenticated:   {next: true, cools: loginCooldown},
	ReasonUntrustedDir:      {next: true, cools: setupCooldown},
	ReasonPermissionRefused: {next: true, cools: setupCooldown},
	ReasonNestedSession:     {next: true, cools: setupCooldown},

	ReasonRateLimited: {next: true, cools: rateCooldown},
	ReasonUsageLimit:  {next: true, cools: usageCooldown},
	ReasonBilling:     {next: true, cools: billingCooldown},

	ReasonOverloaded:  {again: true, next: true, cools: serviceCooldown},
	ReasonServerError: {again: true, next: true, cools: serviceCooldown},
	ReasonNetwork:     {again: true, next: true, cools: serviceCooldown},

	ReasonTimeout:            {next: true, cools: runCooldown},
	ReasonIdleTimeout:        {next: true, cools: runCooldown},
	ReasonFirstOutputTimeout: {next: true, cools: runCooldown},

	ReasonBadModel:        {next: true},
	ReasonContextOverflow: {next: true},
	ReasonBadRequest:      {}, // the caller's mistake: no backend will like it better
	ReasonBadOption:       {},
	ReasonBadSession:      {},

	ReasonBadOutput:   {next: true, cools: runCooldown},
	ReasonEmpty:       {next: true, cools: runCooldown},
	ReasonExit:        {next: true, cools: runCooldown},
	ReasonKilled:      {next: true, cools: runCooldown},
	ReasonOutputLimit: {next: true, cools: runCooldown},
	ReasonSpawn:       {next: true}, // what costs nothing may be tried each time

	ReasonCanceled: {},
}

// policyWith is the table with some rows changed, and what is wrong with the rules.
func policyWith(rules map[Reason]Rule) (_ map[Reason]row, mistakes []*BackendError) {
	if len(rules) == 0 {
		return policy, nil
	}
	table := maps.Clone(policy)
	for _, reason := range slices.Sorted(maps.Keys(rules)) {
		rule := rules[reason]
		changed, known := policy[reason]
		if problem := rule.problem(reason, changed, known); problem != "" {
			mistakes = append(mistakes, mistake("policy."+string(reason), "%s", problem))
			continue
		}
		changed.next, changed.cools = !rule.Stop, rule.Cooldown
		table[reason] = changed
	}
	return table, mistakes
}

// problem is what is wrong with a rule for a row of the table.
func (r Rule) problem(reason Reason, was row, known bool) string {
	switch {
	case !known:
		return "there is no such reason"
	case reason == ReasonCanceled:
		return "a call that its caller has ended cannot go on"
	case was.skip && r.Cooldown != cooldown.Rule{}:
		return "a backend that was not started has no cooldown"
	}
	return r.Cooldown.Problem()
}

// cooldownRules are the cooldowns of a table.
func cooldownRules(table map[Reason]row) map[Reason]cooldown.Rule {
	rules := map[Reason]cooldown.Rule{}
	for reason, row := range table {
		rules[reason] = row.cools
	}
	return rules
}

// mayGoOn applies the decision table to the last failure.
func (w *walk) mayGoOn(err error) bool {
	last := w.attempts[len(w.attempts)-1]
	if w.note = w.bound(last, err); w.note != "" {
		return false
	}
	if w.ctx.Err() != nil {
		return w.spent() // the rest is listed as skipped
	}
	row, known := w.table[last.Reason]
	return row.next || !known || misconfigured(err)
}

// bound says why no other backend may take over after the last attempt, where
// none may, whatever its failure was.
func (w *walk) bound(last Attempt, err error) string {
	switch replay := cmp.Or(w.cfg.Replay, ReplayIfIdempotent); {
	case replay != ReplayAlways && sideEffects(err):
		return last.Backend + " may have used a tool that changed something, so it was not run again elsewhere"
	case replay == ReplayNever && w.req.Access >= AccessWrite && !last.Skipped:
		return fmt.Sprintf("%s had begun, and the policy is never to run a request with write access again", last.Backend)
	case w.text && !w.resets:
		return fmt.Sprintf("the reader has text of %s, which cannot be taken back", last.Backend)
	}
	return ""
}

// sideEffects reports whether one of the backends that an error is about may have
// changed something.
func sideEffects(err error) bool {
	if be, ok := errors.AsType[*BackendError](err); ok && be.SideEffects {
		return true
	}
	chain, ok := errors.AsType[*ChainError](err)
	return ok && slices.ContainsFunc(chain.Attempts, func(a Attempt) bool { return sideEffects(a.Err) })
}

// breakerRules count all failures after which a chain gives a backend a cooldown. They are alike, but only those that a
// request may have caused need a probe.
var breakerRules = sync.OnceValue(func() map[Reason]cooldown.Rule {
	rules := map[Reason]cooldown.Rule{}
	for reason, row := range policy {
		if row.cools.Base > 0 {
			rule := runCooldown
			rule.Confirm = row.cools.Confirm
			rules[reason] = rule
		}
	}
	return rules
})

const (
	// probePrompt is short, and so is its answer.
	probePrompt = "Reply with the word OK."
	// longestProbe bounds a probe where the backend's timeout is that of long work.
	longestProbe = time.Minute
)

// errProbe is why a probe that was answered is listed among the attempts: it is paid for.
var errProbe = errors.New("this was a probe by clichain, since different requests had failed in a row; it was answered")

// probeRequest is a request that no caller has a part in, but for what chooses the cooldowns: nobody can make it fail.
func probeRequest(req Request) Request {
	probe := Prompt(probePrompt)
	probe.Model, probe.Billing = req.Model, req.Billing
	return probe
}

// probeLimit is how long a probe of the backend may take.
func probeLimit(b Backend) time.Duration {
	if d := (cooldownCall{Backend: b}).Timeout(); d > 0 {
		return min(d, longestProbe)
	}
	return longestProbe
}

// rushed reports whether a probe ended because its caller had less than half of the time for it. Whoever sets a short
// deadline must not decide about the backend.
func rushed(caller context.Context, start time.Time, b Backend, err error) bool {
	deadline, ok := caller.Deadline()
	return ok && deadline.Sub(start) < probeLimit(b)/2 && errors.Is(err, context.DeadlineExceeded)
}

// probeAttempts are what a probe has tried, which is paid for.
func probeAttempts(backend string, resp *Response, err error, took time.Duration) []Attempt {
	if err != nil {
		return attemptsOf(backend, err, took)
	}
	answered := Attempt{Backend: backend, Reason: ReasonCanceled, Duration: took, Usage: resp.Usage, Err: errProbe}
	return append(slices.Clone(resp.Attempts), answered)
}

// probe sends a backend that is in doubt a probe before its turn. The error is that of a backend which cools down since
// the probe failed.
func (w *walk) probe(i int, t *try) *BackendError {
	name := t.backend.Name()
	refused := t.entry.Confirm(w.ctx, func() ([]Attempt, bool, error) {
		view, slice, done := w.slice(w.caller, i)
		defer done()
		view.HasFallback, view.CanReset = func() bool { return w.another(i) }, true
		view.MilestonesOnly = keepsQuiet(t.backend)
		ctx, cancel := judge.Within(chainview.With(slice, view), probeLimit(t.backend))
		defer cancel()
		start := time.Now()
		resp, err := call.Collect(func(yield func(Event, error) bool) {
			for e, err := range streamOf(ctx, t.backend, probeRequest(w.req)) {
				if err == nil && (e.Kind == EventStart || e.Kind == EventAttempt) {
					w.emit(e)
				}
				if !yield(e, err) {
					return
				}
			}
		})
		hurried := w.hurried(slice, view, &try{start: start}) || rushed(w.caller, start, t.backend, err)
		return probeAttempts(name, resp, err, time.Since(start)), hurried, err
	})
	if probed := t.entry.Probed(); len(probed) > 0 && refused == nil {
		w.emit(Event{Kind: EventAttempt, Backend: name, Attempt: &probed[len(probed)-1]})
	}
	return refused
}
