package login

import (
	"cmp"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Barred returns the patterns of the environment variables that a CLI must not receive, so that only payer can
// pay. For BillingUnknown it returns none: any account may pay.
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

// Bill records which account may pay for a call, and what is known about the account that would pay. The
// methods accept a nil Bill, which allows every account.
type Bill struct {
	Policy  call.Billing // which account may pay; BillingUnknown means any
	Login   Login
	Sources []keySource // see [Prober.Sources]
}

// Payer returns which account pays, given the source of the key that the CLI reports ("" if it reports none).
// If the source does not determine the account, the login does.
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
			break // if several sources match, the one that costs money counts
		}
	}
	return who
}

// Refused returns an error if an account that may not pay would pay for the call, or if the account is unknown.
// Otherwise it returns nil. source is the source of the key, as in Payer.
func (b *Bill) Refused(source string) *call.Error {
	if b == nil || b.Policy == call.BillingUnknown {
		return nil
	}
	who := b.Payer(source)
	switch {
	case who != call.BillingUnknown && who != b.Policy:
		return refusal("log in with an account that may pay",
			"%s would pay for this call, but only %s may pay", who, b.Policy)
	case who == call.BillingUnknown || !b.Login.Sure():
		doubt := cmp.Or(b.Login.Doubt, b.Login.Evidence, "its login")
		return refusal("remove the other accounts and keys from the CLI's settings",
			"it is unknown which account would pay (see %s), and only %s may pay", doubt, b.Policy)
	}
	return nil
}

func refusal(remedy, format string, args ...any) *call.Error {
	err := call.Errorf(call.ReasonBilling, "", format, args...)
	err.Hint, err.Advice = remedy, []call.Advice{{Action: call.ActionUnset, Field: "config.billing"}}
	return err
}
