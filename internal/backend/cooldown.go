package backend

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/contract"
	"github.com/clichain/clichain/internal/fingerprint"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/sessionfile"
)

// DefaultTimeout limits an attempt.
const DefaultTimeout = 25 * time.Second

// maxNameInKey limits the length of a name in a key, because stores limit the length of keys.
const maxNameInKey = 100

// CooldownCall describes a call to the keeper of the cooldowns.
type CooldownCall struct {
	name    string
	backend *Backend // nil if the backend has no CLI
	req     call.Request

	once         sync.Once // sets key and account
	key, account string
}

// NewCooldownCall describes a call of the backend that a chain knows by name. b is nil for a backend without a
// CLI.
func NewCooldownCall(name string, b *Backend, req call.Request) *CooldownCall {
	if b != nil {
		b.Compile()
	}
	return &CooldownCall{name: name, backend: b, req: req}
}

// Name returns the name of the backend.
func (c *CooldownCall) Name() string { return c.name }

// Timeout returns the timeout of the backend's calls.
func (c *CooldownCall) Timeout() time.Duration {
	if c.backend != nil {
		return c.backend.Settings.Timeout
	}
	return DefaultTimeout
}

// Request returns the request of the call.
func (c *CooldownCall) Request() *call.Request { return &c.req }

// Key returns the key of the cooldown. Each model has its own key, because plans limit some models and not
// others. ok is false if the program cannot be started.
func (c *CooldownCall) Key() (key string, ok bool) {
	key = shortened(c.name)
	model := ""
	if b := c.backend; b == nil {
		model = contract.Unaddressed(c.name, c.req).Model
	} else {
		account, ok := b.account(b.Payer(c.req))
		if !ok {
			return "", false
		}
		model, _ = b.Composer.Models.Resolve(c.req.Model)
		key += "@" + account
	}
	if model != "" {
		key += "/" + shortened(model)
	}
	return key, true
}

func shortened(name string) string { return name[:min(len(name), maxNameInKey)] }

// Scope returns the fingerprint of the calls that a cooldown applies to; empty means all calls.
func (c *CooldownCall) Scope(scope cooldown.Scope) string {
	if scope == cooldown.ScopeAll {
		return ""
	}
	h := fingerprint.New()
	h.Add(string(scope))
	dir := sessionfile.DirOf(c.name, c.req)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if scope == cooldown.ScopeRequest {
		h.Add(dir, c.req.Access.String())
	}
	if b := c.backend; b != nil && scope == cooldown.ScopeRequest {
		h.Add(fmt.Sprint("trust ", b.Settings.TrustDir))
		h.Add(b.outerSession()...)
	} else if b != nil && scope == cooldown.ScopeLogin {
		// A token that this CLI, or another CLI that shares it, has renewed still belongs to the same login.
		host := b.Host("", b.Payer(c.req))
		h.Add(b.Login.Mark(login.PlaceOf(b.Passed(&host, dir, ""), dir)))
	}
	return h.Short()
}

// outerSession lists the environment variables that show an outer session of the same agent.
func (b *Backend) outerSession() (names []string) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); grammar.Matches(b.Spec.NestedEnv, name) {
			names = append(names, name)
		}
	}
	return names
}

// accountWords occur in the names of environment variables with which a CLI selects the paying account and the
// service.
var accountWords = []string{
	"KEY", "TOKEN", "SECRET", "AUTH", "CREDENTIAL", "PASSWORD", "PROFILE", "ACCOUNT", "PROJECT", "ORG", "URL", "ENDPOINT",
	"_USE_", "_HOME", "CONFIG_DIR",
}

// homes are the environment variables that relocate all files of a user.
var homes = []string{"HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}

// account returns a fingerprint of the program and of the credentials that it would use. A cooldown applies
// only to calls with the same fingerprint.
func (b *Backend) account(payer call.Billing) (account string, ok bool) {
	path, err := b.Find()
	if err != nil {
		return "", false
	}
	h := fingerprint.New()
	if b.Settings.Account != "" {
		h.Add(b.Settings.Account)
		return h.Short(), true
	}
	h.AddFile(path)
	if c := b.Settings.Container; c != nil {
		h.Add(c.Name, c.Image, fmt.Sprintf("%q", c.RunArgs))
	}
	host := b.Host(path, payer)
	for _, kv := range host.Environ {
		if name, _, _ := strings.Cut(kv, "="); b.selectsAccount(name) {
			h.Add(kv)
		}
	}
	h.Add(host.SetEnv...)
	h.Add(host.Env...)
	return h.Short(), true
}

func (b *Backend) selectsAccount(name string) bool {
	spec := b.Spec
	if slices.Contains(homes, strings.ToUpper(name)) {
		return true
	}
	return hasAccountWord(name) && !grammar.Matches(spec.DropEnv, name) && !grammar.Matches(spec.NestedEnv, name) &&
		(b.Settings.InheritEnv || grammar.Matches(b.Settings.PassEnv, name) || specPasses(spec, name))
}

func hasAccountWord(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(accountWords, func(word string) bool { return strings.Contains(upper, word) })
}

// specPasses reports whether the spec passes the environment variable, at least if some file requires it.
func specPasses(spec *clispec.Spec, name string) bool {
	return grammar.Matches(spec.PassEnv, name) ||
		slices.ContainsFunc(spec.PassEnvIf, func(r clispec.PassRule) bool { return grammar.Matches(r.Pass, name) })
}
