package clichain

// barred are the variables kept from the CLI so that nobody but the payer pays;
// BillingUnknown: anybody may.
func barred(payer Billing, rules LoginRules) (patterns []string) {
	for _, way := range rules.Ways {
		if payer != BillingUnknown && (way.Billing == BillingSubscription) != (payer == BillingSubscription) {
			patterns = append(patterns, way.Env...)
		}
	}
	return patterns
}

// bill is who pays for a call, as far as is known.
type bill struct {
	Policy  Billing // who may pay; BillingUnknown: anybody
	Login   login
	Sources []keySource
}

// Payer is who pays, by what the CLI says of its credential; "" where it says
// nothing. That no key was used does not tell a plan from a gateway: it counts
// only with what was found before.
func (b *bill) Payer(source string) Billing {
	if b == nil {
		return BillingUnknown
	}
	for _, s := range b.Sources {
		if source != "" && s.billing == BillingAPIKey && s.re.MatchString(source) {
			return BillingAPIKey
		}
	}
	return b.Login.Billing
}

// Refused is the failure of a call for which somebody else would pay. Without
// a word of the CLI it depends on what was found; said is that the CLI will
// not say more.
func (b *bill) Refused(source string, said bool) *BackendError {
	if b == nil || b.Policy == BillingUnknown {
		return nil
	}
	who := b.Payer(source)
	sure := source != "" && b.explains(source) || b.Login.State == LoginAuthenticated
	switch {
	case who != BillingUnknown && who != b.Policy:
		return refusal("this is paid by %s, and only %s may pay (Config.Billing)", who, b.Policy)
	case said && (who == BillingUnknown || !sure):
		return refusal("nobody knows who would pay, and only %s may (Config.Billing)", b.Policy)
	}
	return nil
}

// explains reports whether the spec knows what a key source means.
func (b *bill) explains(source string) bool {
	for _, s := range b.Sources {
		if s.re.MatchString(source) {
			return true
		}
	}
	return false
}

func refusal(format string, args ...any) *BackendError {
	err := errorf(ReasonBilling, "", format, args...)
	err.Hint = "log in with what may pay, or leave Config.Billing empty"
	return err
}
