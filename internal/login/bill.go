package login

import (
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Barred returns the patterns of the variables to keep from the CLI so that only
// payer can pay. BillingUnknown bars none: any account may pay.
func Barred(payer call.Billing, rules clispec.LoginRules) (patterns []string) {
	if payer == call.BillingUnknown {
		return nil
	}
	for _, way := range rules.Ways {
		if (way.Billing == call.BillingSubscription) != (payer == call.BillingSubscription) {
			patterns = append(patterns, way.Env...)
		}
	}
	return patterns
}

// Bill says who may pay for a call and what is known of who would. Its methods accept nil, which allows everything.
type Bill struct {
	Policy  call.Billing // who may pay; BillingUnknown means anyone
	Login   Login
	Sources []keySource // see [Prober.Sources]
}

// Payer returns who pays, given what the CLI says about the source of its key ("" if it says nothing). A key is paid
// for by its account. Without one, both a plan and a gateway are possible, so the login that was found decides.
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

// Refused returns the error of a call that the wrong account would pay for, or nil. source is what the CLI says about
// its key, as in Payer; said tells that it will not say more, so that an unknown payer is refused as well.
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
		return refusal("it is unknown who would pay, and only %s may (Config.Billing)", b.Policy)
	}
	return nil
}

func (b *Bill) explains(source string) bool {
	return slices.ContainsFunc(b.Sources, func(s keySource) bool { return s.re.MatchString(source) })
}

func refusal(format string, args ...any) *call.Error {
	err := call.Errorf(call.ReasonBilling, "", format, args...)
	err.Hint = "log in with what may pay, or leave Config.Billing empty"
	return err
}
