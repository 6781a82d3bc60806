package backend

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/fingerprint"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/login"
)

// AccountKey returns the key of the account's usage windows in a store, and the name that the settings give to the
// account. It is empty for a backend without a valid CLI. Backends that use the same login have the same key,
// independent of their names, programs and models.
func (c *CooldownCall) AccountKey() (key, account string) {
	c.once.Do(func() { c.key, c.account = c.accountKey() })
	return c.key, c.account
}

func (c *CooldownCall) accountKey() (key, account string) {
	b := c.backend
	if b == nil || b.Spec == nil {
		return "", ""
	}
	if account = b.Settings.Account; account != "" {
		h := fingerprint.New()
		h.Add("account", b.Spec.ProviderSlug, account) // a chain can have one account for CLIs of several vendors
		return h.Short(), account
	}
	return loginKey(b, b.Payer(c.req)), ""
}

// UsesWindow reports whether the model of the call, or its fallback, may use the usage window of that name.
func (c *CooldownCall) UsesWindow(name string) bool {
	b := c.backend
	if b == nil || b.Spec == nil {
		return true
	}
	model, _ := b.Composer.Models.Resolve(c.req.Model)
	if fallback := c.req.Options.FallbackModel; fallback != "" {
		return b.Judge().UsesWindow(name, model, fallback)
	}
	return b.Judge().UsesWindow(name, model)
}

// loginKey returns a fingerprint of the places at which the CLI finds its login: this host, the paths of files, and the
// environment variables that select an account.
func loginKey(b *Backend, payer call.Billing) string {
	h := fingerprint.New()
	h.Add("login", hostname()) // equal paths on two machines are two logins
	if c := b.Settings.Container; c != nil {
		h.Add(c.Name, c.Image, fmt.Sprintf("%q", c.RunArgs))
	}
	seen, vars := b.Host("", payer), map[string]string{}
	for _, list := range [][]string{seen.Environ, seen.SetEnv, seen.Env} {
		grammar.SetAll(vars, list)
	}
	files, names := b.Login.Places(login.PlaceOf(vars, ""))
	if len(files)+len(names) == 0 { // the spec does not tell where the login is
		h.Add(cmp.Or(b.Spec.ProviderSlug, b.Spec.InstanceOf, b.Spec.Name))
		names = homes
	}
	h.Add(fmt.Sprintf("%q", files))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if grammar.Matches(names, name) || namesAccount(b, name) {
			h.Add(name, vars[name])
		}
	}
	return h.Short()
}

var hostname = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

// namesAccount reports whether an environment variable that the settings or the spec pass may select an account.
func namesAccount(b *Backend, name string) bool {
	if !hasAccountWord(name) || slices.Contains(homes, strings.ToUpper(name)) {
		return false
	}
	s := &b.Settings
	sets := func(kv string) bool { return strings.HasPrefix(kv, name+"=") }
	return specPasses(b.Spec, name) || grammar.Matches(s.PassEnv, name) || slices.ContainsFunc(s.Env, sets)
}

// maxAccount limits Settings.Account, in bytes.
const maxAccount = 200

// accountMistake returns an error for a name that tables and logs cannot show.
func (s *Settings) accountMistake() *call.Error {
	hidden := strings.ContainsFunc(s.Account, func(r rune) bool { return !unicode.IsPrint(r) })
	shown := utf8.ValidString(s.Account) && !hidden
	if shown && strings.TrimSpace(s.Account) == s.Account && len(s.Account) <= maxAccount {
		return nil
	}
	return call.ConfigErrorf("config.account",
		"%.40q is no name: use at most %d printable bytes, without spaces around them", s.Account, maxAccount)
}
