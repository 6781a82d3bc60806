package settings

import (
	"fmt"
	"strings"
)

// Accounts is a text that names the accounts of backends, such as "claude=team,codex=work"; see
// clichain.Config.Account.
type Accounts string

// UnmarshalText parses Accounts. An element without a backend or an account, and a second account of a backend, are
// errors.
func (a *Accounts) UnmarshalText(text []byte) error {
	seen := map[string]bool{}
	for element := range strings.SplitSeq(string(text), ",") {
		name, account := pair(element)
		if name == "" || account == "" {
			return fmt.Errorf("has %q: write backend=account, such as claude=team,codex=work", element)
		}
		if seen[name] {
			return fmt.Errorf("has two accounts of %s: keep one of them, or add another backend for the other login", name)
		}
		seen[name] = true
	}
	*a = Accounts(text)
	return nil
}

// String returns the text of the Accounts.
func (a Accounts) String() string { return string(a) }

// Map returns the accounts by the names of their backends.
func (a Accounts) Map() map[string]string {
	accounts := map[string]string{}
	for element := range strings.SplitSeq(string(a), ",") {
		if name, account := pair(element); name != "" {
			accounts[name] = account
		}
	}
	return accounts
}

// pair splits an element into a backend and its account.
func pair(element string) (name, account string) {
	name, account, _ = strings.Cut(element, "=")
	return strings.TrimSpace(name), strings.TrimSpace(account)
}
