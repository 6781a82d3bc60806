package clichain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/contract"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/policy"
)

// newKeeper takes what it needs of a chain's settings.
func newKeeper(cfg *ChainConfig, table policy.Table) *cooling.Keeper {
	k := &cooling.Keeper{
		Store: cfg.Store, Rules: table.Cooldowns(), Log: cfg.withDefaults().Logger, Began: cfg.Hooks.cooldown(),
	}
	switch {
	case cfg.NoCooldown:
		k.Store = nil
	case k.Store == nil:
		k.Store = cooldown.NewMemory()
	}
	return k
}

// newBreaker makes the breaker of a provider when it is first needed.
func newBreaker(log *slog.Logger) func() *cooling.Keeper {
	return sync.OnceValue(func() *cooling.Keeper {
		return &cooling.Keeper{Store: cooldown.NewMemory(), Rules: policy.Breaker(), Log: log}
	})
}

// guarded is converse behind the breaker, where one stands. The calls of a chain count for the chain's cooldowns alone.
func (p *Provider) guarded(ctx context.Context, req Request, emit func(Event)) (*Response, error) {
	if p.cfg.Breaker != cooldown.BreakerOn || chainview.Of(ctx).HasFallback != nil {
		return p.converse(ctx, req, emit)
	}
	entry, refused := p.passBreaker(ctx, cooldownCall{p.name, p, req}, req)
	if refused != nil {
		return nil, refused
	}
	over := false
	defer func() {
		if !over { // emit panicked
			entry.Left(ctx)
		}
	}()
	resp, err := p.converse(ctx, req, emit)
	over = true
	entry.Ended(ctx, err, ctx.Err() != nil)
	if probed := entry.Probed(); len(probed) > 0 && err == nil {
		resp.Attempts = append(probed, resp.Attempts...)
	} else if len(probed) > 0 {
		failed := *call.AsError(p.name, err)
		failed.Earlier, err = append(probed, failed.Earlier...), &failed
	}
	return resp, err
}

// maxNameInKey bounds keys, for the sake of stores.
const maxNameInKey = 100

// cooldownCall is a call of a backend for its keeper of cooldowns.
type cooldownCall struct {
	name     string    // of the backend
	provider *Provider // nil: the backend is none and wraps none
	req      Request
}

// chainCall is a call of a chain, whose own backends cool down.
type chainCall struct{ cooldownCall }

func (chainCall) Key() (key string, ok bool) { return "", false }

func (c cooldownCall) Name() string { return c.name }

// Timeout is that of the backend's calls.
func (c cooldownCall) Timeout() time.Duration {
	if c.provider != nil {
		return c.provider.cfg.Timeout
	}
	return DefaultTimeout
}

// Request is what the backend is asked.
func (c cooldownCall) Request() *Request { return &c.req }

// Key keeps the cooldowns of each model apart, because plans limit some models and not others. ok is false for a
// program that cannot be started.
func (c cooldownCall) Key() (key string, ok bool) {
	key, model := shortened(c.name), c.req.Model
	if p := c.provider; p == nil {
		model = contract.Unaddressed(c.name, c.req).Model
	} else {
		account, ok := p.account(p.payer(c.req))
		if !ok {
			return "", false
		}
		model, _ = p.composer.Models.Resolve(model)
		key += "@" + account
	}
	if model != "" {
		key += "/" + shortened(model)
	}
	return key, true
}

func shortened(name string) string { return name[:min(len(name), maxNameInKey)] }

// accountWords are in the names of variables by which a CLI chooses the account
// that pays, and the service that is asked.
var accountWords = []string{
	"KEY", "TOKEN", "SECRET", "AUTH", "CREDENTIAL", "PASSWORD", "PROFILE", "ACCOUNT", "PROJECT", "ORG", "URL", "ENDPOINT",
	"_USE_", "_HOME", "CONFIG_DIR",
}

// homes are the variables that move all of a user's files.
var homes = []string{"HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}

// account is a fingerprint of the program and of the credential that it would
// use: with another one, what was known of the backend does not hold. Secrets
// go into it and cannot be read from it.
func (p *Provider) account(payer call.Billing) (fingerprint string, ok bool) {
	path, err := p.ready()
	if err != nil {
		return "", false
	}
	h := sha256.New()
	if p.cfg.Account != "" {
		tell(h, p.cfg.Account)
		return hex.EncodeToString(h.Sum(nil)[:8]), true
	}
	tellFile(h, path)
	if c := p.cfg.Container; c != nil {
		tell(h, c.Name, c.Image, fmt.Sprintf("%q", c.RunArgs))
	}
	host := p.host(path, payer)
	for _, kv := range host.Environ {
		if name, _, _ := strings.Cut(kv, "="); p.meansAccount(name) {
			tell(h, kv)
		}
	}
	tell(h, host.SetEnv...)
	tell(h, host.Env...)
	return hex.EncodeToString(h.Sum(nil)[:8]), true
}

func (p *Provider) meansAccount(name string) bool {
	upper := strings.ToUpper(name)
	if slices.Contains(homes, upper) {
		return true
	}
	return slices.ContainsFunc(accountWords, func(word string) bool { return strings.Contains(upper, word) }) &&
		!grammar.Matches(p.spec.DropEnv, name) && !grammar.Matches(p.spec.NestedEnv, name) &&
		(p.cfg.InheritEnv || grammar.Matches(p.spec.PassEnv, name) || grammar.Matches(p.cfg.PassEnv, name) ||
			slices.ContainsFunc(p.spec.PassEnvIf, func(r clispec.PassRule) bool { return grammar.Matches(r.Pass, name) }))
}

// Scope is the fingerprint of the calls that a cooldown is for; empty for all.
func (c cooldownCall) Scope(scope cooldown.Scope) string {
	if scope == cooldown.ScopeAll {
		return ""
	}
	h := sha256.New()
	tell(h, string(scope))
	p := c.provider
	if p != nil {
		p.compile()
	}
	dir := dirOf(c.name, c.req)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	switch scope {
	case cooldown.ScopeRequest:
		tell(h, dir, c.req.Access.String())
		if p != nil {
			tell(h, fmt.Sprint("trust ", p.cfg.TrustDir))
			p.tellSession(h)
		}
	case cooldown.ScopeLogin:
		if p != nil {
			p.tellLogin(h, dir, p.payer(c.req))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// tellSession tells of the outer session that the CLI would find itself in.
func (p *Provider) tellSession(h io.Writer) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); grammar.Matches(p.spec.NestedEnv, name) {
			tell(h, name)
		}
	}
}

// tellLogin tells of the credentials that files hold. A token that was renewed, by
// this CLI or by another one that shares it, is no other login.
func (p *Provider) tellLogin(h io.Writer, dir string, payer call.Billing) {
	host := p.host("", payer)
	tell(h, p.login.Mark(login.PlaceOf(p.passed(&host, dir, ""), dir)))
}

// tellFile tells which file is there, if any, and when it was changed.
func tellFile(h io.Writer, path string) {
	if stamp, err := localfile.StampOf(path); err == nil {
		tell(h, path, fmt.Sprint(stamp))
	}
}

// tell writes texts so that no two lists are the same. A hash never fails.
func tell(h io.Writer, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(text), text)
	}
}
