package clichain

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/cooldown"
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
	// One may be the request's fault; three in a row are hardly.
	runCooldown = cooldown.Rule{Base: 30 * time.Second, Cap: 5 * time.Minute, After: 3}
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

// breakerRules count alike all failures after which a chain gives a backend a cooldown.
var breakerRules = sync.OnceValue(func() map[Reason]cooldown.Rule {
	rules := map[Reason]cooldown.Rule{}
	for reason, row := range policy {
		if row.cools.Base > 0 {
			rules[reason] = runCooldown
		}
	}
	return rules
})
