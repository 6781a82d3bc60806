package clichain

// Barred are the variables that a policy keeps from a CLI.
func Barred(payer Billing, spec CliSpec) []string { return barred(payer, spec.Login) }

// CredentialExpiry is the end of a credential, in one of its forms.
var CredentialExpiry = readExpiry

// SetOnline says whether there is a network, until the test ends.
func SetOnline(t interface{ Cleanup(func()) }, is bool) {
	old := online
	online = func() bool { return is }
	t.Cleanup(func() { online = old })
}
