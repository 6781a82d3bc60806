package login

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Barred are the variables kept from the CLI so that nobody but the payer pays;
// BillingUnknown: anybody may.
func Barred(payer call.Billing, rules clispec.LoginRules) (patterns []string) {
	for _, way := range rules.Ways {
		if payer != call.BillingUnknown && (way.Billing == call.BillingSubscription) != (payer == call.BillingSubscription) {
			patterns = append(patterns, way.Env...)
		}
	}
	return patterns
}

// Bill is who pays for a call, as far as is known.
type Bill struct {
	Policy  call.Billing // who may pay; BillingUnknown: anybody
	Login   Login
	Sources []keySource
}

// Payer is who pays, by what the CLI says of its credential; "" where it says
// nothing. That no key was used does not tell a plan from a gateway: it counts
// only with what was found before.
func (b *Bill) Payer(source string) call.Billing {
	if b == nil {
		return call.BillingUnknown
	}
	for _, s := range b.Sources {
		if source != "" && s.billing == call.BillingAPIKey && s.re.MatchString(source) {
			return call.BillingAPIKey
		}
	}
	return b.Login.Billing
}

// Refused is the failure of a call for which somebody else would pay. Without
// a word of the CLI it depends on what was found; said is that the CLI will
// not say more.
func (b *Bill) Refused(source string, said bool) *call.Error {
	if b == nil || b.Policy == call.BillingUnknown {
		return nil
	}
	who := b.Payer(source)
	sure := source != "" && b.explains(source) || b.Login.State == clispec.LoginAuthenticated
	switch {
	case who != call.BillingUnknown && who != b.Policy:
		return refusal("this is paid by %s, and only %s may pay (Config.Billing)", who, b.Policy)
	case said && (who == call.BillingUnknown || !sure):
		return refusal("nobody knows who would pay, and only %s may (Config.Billing)", b.Policy)
	}
	return nil
}

// explains reports whether the spec knows what a key source means.
func (b *Bill) explains(source string) bool {
	for _, s := range b.Sources {
		if s.re.MatchString(source) {
			return true
		}
	}
	return false
}

func refusal(format string, args ...any) *call.Error {
	err := call.Errorf(call.ReasonBilling, "", format, args...)
	err.Hint = "log in with what may pay, or leave Config.Billing empty"
	return err
}
