// Package policy is the decision table of chains: it defines what follows the failure of a backend.
package policy

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// Row is one row of the decision table.
type Row struct {
	Skip  bool          // the backend was not started
	Again bool          // the backend gets a second attempt after a back-off
	Stop  bool          // the chain tries no other backend
	Cools cooldown.Rule // how long later calls skip the backend
}

// Table has a row for each Reason. A reason without a row has the zero Row, so the chain tries the next
// backend.
type Table map[call.Reason]Row

// Rule replaces a row of the decision table. With the zero value, the chain tries the next backend, without a
// cooldown.
type Rule struct {
	Stop     bool // the chain tries no other backend
	Cooldown cooldown.Rule
}

// The cooldowns of the decision table. Rows that share a rule count their consecutive failures together.
var (
	// The user has to fix the cause, and clichain is not notified when that is done.
	loginCooldown = cooldown.Rule{Base: 10 * time.Minute, Scope: cooldown.ScopeLogin}
	setupCooldown = cooldown.Rule{Base: 10 * time.Minute, Scope: cooldown.ScopeRequest}

	rateCooldown    = cooldown.Rule{Base: 30 * time.Second, Cap: 10 * time.Minute}
	usageCooldown   = cooldown.Rule{Base: 5 * time.Minute, Cap: time.Hour}
	billingCooldown = cooldown.Rule{Base: time.Hour}
	serviceCooldown = cooldown.Rule{Base: 30 * time.Second, Cap: 5 * time.Minute}
	// The request may have caused the failure. A caller with three failing requests must not block the backend
	// for other callers.
	runCooldown = cooldown.Rule{Base: 30 * time.Second, Cap: 5 * time.Minute, After: 3, Confirm: true}
)

// Default is the decision table of docs/reference/errors.md. Do not modify it.
var Default = Table{
	call.ReasonSuppressed:    {Skip: true},
	call.ReasonNotInstalled:  {Skip: true},
	call.ReasonUnsupported:   {Skip: true},
	call.ReasonModelMismatch: {Skip: true},
	call.ReasonCoolingDown:   {Skip: true},
	call.ReasonReserved:      {Skip: true},
	call.ReasonBudgetSpent:   {Skip: true},

	call.ReasonUnauthenticated:   {Cools: loginCooldown},
	call.ReasonUntrustedDir:      {Cools: setupCooldown},
	call.ReasonPermissionRefused: {Cools: setupCooldown},
	call.ReasonNestedSession:     {Cools: setupCooldown},
	call.ReasonUnconfined:        {Skip: true},

	call.ReasonRateLimited: {Cools: rateCooldown},
	call.ReasonUsageLimit:  {Cools: usageCooldown},
	call.ReasonBilling:     {Cools: billingCooldown},

	call.ReasonOverloaded:  {Again: true, Cools: serviceCooldown},
	call.ReasonServerError: {Again: true, Cools: serviceCooldown},
	call.ReasonNetwork:     {Again: true, Cools: serviceCooldown},

	call.ReasonTimeout:            {Cools: runCooldown},
	call.ReasonIdleTimeout:        {Cools: runCooldown},
	call.ReasonFirstOutputTimeout: {Cools: runCooldown},

	call.ReasonBadModel:        {},
	call.ReasonContextOverflow: {},
	call.ReasonBadRequest:      {},
	call.ReasonBadOption:       {},
	call.ReasonBadSession:      {},

	call.ReasonBadOutput:   {Cools: runCooldown},
	call.ReasonEmpty:       {Cools: runCooldown},
	call.ReasonExit:        {Cools: runCooldown},
	call.ReasonKilled:      {Cools: runCooldown},
	call.ReasonOutputLimit: {Cools: runCooldown},
	call.ReasonSpawn:       {}, // a process that fails to start costs nothing

	call.ReasonRejected: {}, // the backend has answered, so Rule.problem refuses a cooldown for it

	call.ReasonCanceled: {},
}

func init() {
	for reason, row := range Default {
		row.Stop = reason.StopsChain()
		Default[reason] = row
	}
}

// With returns the default table with some rows replaced, and the mistakes in the rules.
func With(rules map[call.Reason]Rule) (_ Table, mistakes []*call.Error) {
	table := maps.Clone(Default)
	for _, reason := range slices.Sorted(maps.Keys(rules)) {
		rule := rules[reason]
		row, known := Default[reason]
		if problem := rule.problem(reason, row, known); problem != "" {
			mistakes = append(mistakes, call.ConfigErrorf("policy."+string(reason), "%s", problem))
			continue
		}
		row.Stop, row.Cools = rule.Stop, rule.Cooldown
		table[reason] = row
	}
	return table, mistakes
}

// problem describes what is wrong with a rule for a row of the table, or returns "".
func (r Rule) problem(reason call.Reason, was Row, known bool) string {
	switch {
	case !known:
		return "unknown reason"
	case reason == call.ReasonCanceled:
		return "a canceled call cannot continue"
	case was.Skip && r.Cooldown != cooldown.Rule{}:
		return "a backend that was not started cannot have a cooldown"
	case reason == call.ReasonRejected && r.Cooldown != cooldown.Rule{}:
		return "a backend whose answer was refused has answered, so it cannot have a cooldown"
	}
	return r.Cooldown.Problem()
}

// Cooldowns returns the cooldown rule of each reason.
func (t Table) Cooldowns() map[call.Reason]cooldown.Rule {
	rules := map[call.Reason]cooldown.Rule{}
	for reason, row := range t {
		rules[reason] = row.Cools
	}
	return rules
}

// Breaker returns the cooldown rules of a breaker. They cover every failure after which a chain puts a backend
// in cooldown. All have the same duration and threshold, but only failures that a request may have caused need
// a probe.
var Breaker = sync.OnceValue(func() map[call.Reason]cooldown.Rule {
	rules := map[call.Reason]cooldown.Rule{}
	for reason, row := range Default {
		if row.Cools.Base > 0 {
			rule := runCooldown
			rule.Confirm = row.Cools.Confirm
			rules[reason] = rule
		}
	}
	return rules
})
