package clichain

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// row is one row of the decision table: what may follow a failure.
type row struct {
	skip  bool     // the backend was not started; the next one is tried
	again bool     // the same backend, once, after a back-off
	next  bool     // the next backend
	rest  RestRule // how long later calls leave it alone
}

// Rule takes the place of a row of the decision table; see ChainConfig.Policy.
// The zero value goes on to the next backend, and does not let this one rest.
type Rule struct {
	// Stop ends the chain: no further backend is asked.
	Stop bool
	// Rest is how long later calls leave the backend alone.
	Rest RestRule
}

// RestRule says how long a backend rests after a failure. The time that the
// backend itself has told comes before it. The zero value: not at all.
type RestRule struct {
	// Base is the first rest. Zero: none.
	Base time.Duration
	// Cap: each further failure in a row doubles the rest up to this. Zero:
	// always Base.
	Cap time.Duration
	// After is how many failures in a row it takes. Zero: the first is enough.
	After int
	// Scope says which calls the rest is for. Zero: all of them.
	Scope RestScope
}

// RestScope says which calls a rest is for.
type RestScope string

const (
	// ScopeAll, the zero value, is every call of the backend.
	ScopeAll RestScope = ""
	// ScopeRequest: calls in the same folder, with the same access, in the same
	// kind of outer session.
	ScopeRequest RestScope = "request"
	// ScopeLogin: calls with the login files as they are.
	ScopeLogin RestScope = "login"
)

// The rests of the decision table. Rows that share one count their failures in
// a row together.
var (
	// Somebody has to do something, and will not say when it is done.
	restForLogin = RestRule{Base: 10 * time.Minute, Scope: ScopeLogin}
	restForSetup = RestRule{Base: 10 * time.Minute, Scope: ScopeRequest}

	restForRate    = RestRule{Base: 30 * time.Second, Cap: 10 * time.Minute}
	restForUsage   = RestRule{Base: 5 * time.Minute, Cap: time.Hour}
	restForBilling = RestRule{Base: time.Hour}
	restForService = RestRule{Base: 30 * time.Second, Cap: 5 * time.Minute}
	// One may be the request's fault; three in a row are hardly.
	restForRuns = RestRule{Base: 15 * time.Second, Cap: 5 * time.Minute, After: 3}
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

	ReasonUnauthenticated:   {next: true, rest: restForLogin},
	ReasonUntrustedDir:      {next: true, rest: restForSetup},
	ReasonPermissionRefused: {next: true, rest: restForSetup},
	ReasonNestedSession:     {next: true, rest: restForSetup},

	ReasonRateLimited: {next: true, rest: restForRate},
	ReasonUsageLimit:  {next: true, rest: restForUsage},
	ReasonBilling:     {next: true, rest: restForBilling},

	ReasonOverloaded:  {again: true, next: true, rest: restForService},
	ReasonServerError: {again: true, next: true, rest: restForService},
	ReasonNetwork:     {again: true, next: true, rest: restForService},

	ReasonTimeout:            {next: true, rest: restForRuns},
	ReasonIdleTimeout:        {next: true, rest: restForRuns},
	ReasonFirstOutputTimeout: {next: true, rest: restForRuns},

	ReasonBadModel:        {next: true},
	ReasonContextOverflow: {next: true},
	ReasonBadRequest:      {}, // the caller's mistake: no backend will like it better
	ReasonBadOption:       {},
	ReasonBadSession:      {},

	ReasonBadOutput:   {next: true, rest: restForRuns},
	ReasonEmpty:       {next: true, rest: restForRuns},
	ReasonExit:        {next: true, rest: restForRuns},
	ReasonKilled:      {next: true, rest: restForRuns},
	ReasonOutputLimit: {next: true, rest: restForRuns},
	ReasonSpawn:       {next: true}, // what costs nothing may be tried each time

	ReasonCanceled: {},
}

// policyWith is the table with some rows changed.
func policyWith(rules map[Reason]Rule) (map[Reason]row, *BackendError) {
	if len(rules) == 0 {
		return policy, nil
	}
	table := maps.Clone(policy)
	for _, reason := range slices.Sorted(maps.Keys(rules)) {
		rule := rules[reason]
		changed, known := policy[reason]
		if problem := rule.problem(reason, changed, known); problem != "" {
			return policy, errorf(ReasonBadOption, "policy."+string(reason), "%s", problem)
		}
		changed.next, changed.rest = !rule.Stop, rule.Rest
		table[reason] = changed
	}
	return table, nil
}

// problem is what is wrong with a rule for a row of the table.
func (r Rule) problem(reason Reason, was row, known bool) string {
	switch rest := r.Rest; {
	case !known:
		return "there is no such reason"
	case reason == ReasonCanceled:
		return "a call that its caller has ended cannot go on"
	case was.skip && rest != RestRule{}:
		return "a backend that was not started cannot be let rest"
	case rest.Base < 0 || rest.Cap < 0 || rest.After < 0:
		return "a rest cannot be negative"
	case rest.Base > longestRest || rest.Cap > longestRest:
		return fmt.Sprintf("a rest is at most %v", longestRest)
	case rest.Cap > 0 && rest.Cap < rest.Base:
		return fmt.Sprintf("the rest of %v is above its cap of %v", rest.Base, rest.Cap)
	case rest.Scope != ScopeAll && rest.Scope != ScopeRequest && rest.Scope != ScopeLogin:
		return fmt.Sprintf("there is no scope %q", rest.Scope)
	}
	return ""
}

// length is the rest after so many failures in a row, before chance has
// lengthened or shortened it; zero for none.
func (r RestRule) length(failures int) time.Duration {
	longest := max(r.Cap, r.Base)
	d := r.Base
	for range failures - max(r.After, 1) {
		if d >= longest {
			break
		}
		d = min(2*d, longest)
	}
	if failures < r.After {
		return 0
	}
	return d
}
