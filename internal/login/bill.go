package login

import (
	"cmp"

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

// Payer returns who pays, given what the CLI says about the source of its key ("" if it says nothing). Where that does
// not tell, the login that was found does.
func (b *Bill) Payer(source string) call.Billing {
	if b == nil {
		return call.BillingUnknown
	}
	who := b.Login.Billing
	for _, s := range b.Sources {
		if source == "" || !s.re.MatchString(source) {
			continue
		}
		if who = s.billing; who == call.BillingAPIKey {
			break // of several, the one that costs
		}
	}
	return who
}

// Refused returns the error of a call that the wrong account would pay for, or of which it is unknown who would, or
// nil. source is what the CLI says about its key, as in Payer.
func (b *Bill) Refused(source string) *call.Error {
	if b == nil || b.Policy == call.BillingUnknown {
		return nil
	}
	who := b.Payer(source)
	switch {
	case who != call.BillingUnknown && who != b.Policy:
		return refusal("log in with what may pay", "this is paid by %s, and only %s may pay", who, b.Policy)
	case who == call.BillingUnknown || !b.Login.Sure():
		doubt := cmp.Or(b.Login.Doubt, b.Login.Evidence, "its login")
		return refusal("take other ways to pay out of the CLI's settings",
			"it is unknown who would pay (see %s), and only %s may pay", doubt, b.Policy)
	}
	return nil
}

func refusal(remedy, format string, args ...any) *call.Error {
	err := call.Errorf(call.ReasonBilling, "", format, args...)
	err.Hint, err.Advice = remedy, []call.Advice{{Action: call.ActionUnset, Field: "config.billing"}}
	return err
}
