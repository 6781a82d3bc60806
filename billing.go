package clichain

import "strings"

// BillingPolicy says who may pay for an answer.
type BillingPolicy string

const (
	// BillingAny is the zero value.
	BillingAny BillingPolicy = ""
	// SubscriptionOnly: nothing that costs more than a plan which is paid for
	// anyway. The CLI does not see the vendor's keys, and a backend of which
	// this is not known is skipped, or ended before it asks its model, with
	// the reason billing.
	SubscriptionOnly BillingPolicy = "subscription"
	// APIKeyOnly: nothing at the cost of a person's plan, in the same way.
	APIKeyOnly BillingPolicy = "api_key"
)

// barred are the variables kept from the CLI so that nobody else pays.
func (p BillingPolicy) barred(rules LoginRules) (patterns []string) {
	for _, way := range rules.Ways {
		if p == SubscriptionOnly && way.Billing != BillingSubscription || p == APIKeyOnly && way.Billing == BillingSubscription {
			patterns = append(patterns, way.Env...)
		}
	}
	return patterns
}

// withoutEnv is a list of variables without those that patterns name.
func withoutEnv(environ, patterns []string) []string {
	if len(patterns) == 0 {
		return environ
	}
	var kept []string
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); !matchesEnv(patterns, name) {
			kept = append(kept, kv)
		}
	}
	return kept
}

// bill is who pays for a call, as far as is known.
type bill struct {
	policy BillingPolicy
	login  login
	sense  *loginSense
}

// payer is who pays, by what the CLI says of its credential; "" where it says
// nothing. That no key was used does not tell a plan from a gateway: it counts
// only with what was found before.
func (b *bill) payer(source string) Billing {
	if b == nil {
		return BillingUnknown
	}
	for _, s := range b.sense.sources {
		if source != "" && s.billing == BillingAPIKey && s.re.MatchString(source) {
			return BillingAPIKey
		}
	}
	return b.login.billing
}

// refused is the failure of a call for which somebody else would pay. Without
// a word of the CLI it depends on what was found; said is that the CLI will
// not say more.
func (b *bill) refused(source string, said bool) *BackendError {
	if b == nil || b.policy == BillingAny {
		return nil
	}
	who := b.payer(source)
	sure := source != "" && b.explains(source) || b.login.state == LoginAuthenticated
	switch {
	case who != BillingUnknown && string(who) != string(b.policy):
		return refusal("this is paid by %s, and only %s may pay (Config.Billing)", who, b.policy)
	case said && (who == BillingUnknown || !sure):
		return refusal("nobody knows who would pay, and only %s may (Config.Billing)", b.policy)
	}
	return nil
}

// explains reports whether the spec knows what a key source means.
func (b *bill) explains(source string) bool {
	for _, s := range b.sense.sources {
		if s.re.MatchString(source) {
			return true
		}
	}
	return false
}

func refusal(format string, args ...any) *BackendError {
	err := mistake(ReasonBilling, "", format, args...)
	err.Hint = "log in with what may pay, or let Config.Billing be BillingAny"
	return err
}

// checkBilling ends a run for which somebody else would pay, before its model
// is asked. The caller holds mu.
func (r *run) checkBilling(e *Event) {
	if e.Kind != EventSession {
		return
	}
	if err := r.inv.bill.refused(e.KeySource, true); err != nil {
		r.abort(finding{reason: err.Reason, message: err.Message, hint: err.Hint})
	}
}
