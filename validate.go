package clichain

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/container"
	"github.com/clichain/clichain/internal/grammar"
)

// misconfiguration is a mistake of who set a backend up. No request is to blame,
// and other backends may be healthy.
type misconfiguration struct{ error }

func (m misconfiguration) Unwrap() error { return m.error }

// misconfigured reports whether a failure is due to such mistakes alone.
func misconfigured(err error) bool {
	chain := chainIn(err)
	if chain != nil && chain.Cause == nil {
		return len(chain.Attempts) > 0 && !slices.ContainsFunc(chain.Attempts, stops)
	}
	if chain != nil {
		err = chain.Cause
	}
	_, ok := errors.AsType[misconfiguration](err)
	return ok
}

// stops reports whether a failure would be every backend's.
func stops(a Attempt) bool {
	row, known := policy[a.Reason]
	return known && !row.next && !misconfigured(a.Err)
}

// mistake is a misconfiguration as the error of every call.
func mistake(field, format string, args ...any) *BackendError {
	err := call.Errorf(ReasonBadOption, field, format, args...)
	err.Err, err.Stage = misconfiguration{errors.New(err.Message)}, call.StageSkipped
	return err
}

// oneOf is nil, or one error that says all the mistakes.
func oneOf(field string, mistakes []*BackendError) *BackendError {
	switch len(mistakes) {
	case 0:
		return nil
	case 1:
		return mistakes[0]
	}
	texts := make([]string, len(mistakes))
	for i, m := range mistakes {
		texts[i] = m.Option + ": " + m.Detail()
	}
	err := mistake(field, "%s", strings.Join(texts, "; "))
	err.Err = misconfiguration{joined(mistakes)}
	return err
}

func joined(mistakes []*BackendError) error {
	list := make([]error, len(mistakes))
	for i, m := range mistakes {
		list[i] = m
	}
	return errors.Join(list...)
}

// Validate returns all mistakes in the settings as one error, in which a
// [*BackendError] with the reason bad_option names the field of each; nil if
// there is none. A Provider with such settings fails every call in the same way.
func (c Config) Validate() error { return joined(c.mistakes()) }

func (c *Config) mistakes() (list []*BackendError) {
	add := func(err *BackendError) {
		if err != nil {
			list = append(list, err)
		}
	}
	if err := clispec.CheckName(c.Name); err != nil && c.Name != "" {
		add(mistake("config.name", "%q %s", c.Name, err))
	}
	add(word("config.output", c.Output, clispec.OutputStream, clispec.OutputJSON, clispec.OutputText))
	add(word("config.transport", c.Transport, clispec.TransportStdin, clispec.TransportArgv))
	add(word("config.sandbox", c.Sandbox, SandboxAuto, SandboxOn, SandboxOff))
	add(word("config.breaker", c.Breaker, cooldown.BreakerSessions, cooldown.BreakerOn, cooldown.BreakerOff))
	add(word("config.billing", c.Billing, call.BillingSubscription, call.BillingAPIKey))
	add(atLeastZero("config.first_output_timeout", c.FirstOutputTimeout))
	add(atLeastZero("config.idle_timeout", c.IdleTimeout))
	add(atLeastZero("config.max_queue", c.MaxQueue))
	add(atLeastZero("config.max_output", c.MaxOutput))
	add(atLeastZero("config.max_parallel", c.MaxParallel))
	if c.Slots != nil && cap(c.Slots) == 0 {
		add(mistake("config.slots", "a channel without a capacity lets nothing run: make(chan struct{}, n) for n at once"))
	}
	for i, kv := range c.Env {
		if name, _, ok := strings.Cut(kv, "="); name == "" || !ok || strings.Contains(kv, "\x00") {
			add(mistake(fmt.Sprintf("config.env[%d]", i), "is not of the form NAME=value")) // the value may be a secret
		}
	}
	for i, name := range c.PassEnv {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			add(mistake(fmt.Sprintf("config.pass_env[%d]", i), "%q is no name of a variable", name))
		}
	}
	for i, name := range c.RequestEnv {
		if !grammar.IsVariablePattern(name) {
			add(mistake(fmt.Sprintf("config.request_env[%d]", i),
				`%q is neither the name of a variable nor the beginning of some and a "*"`, name))
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(c.ModelAliases)) {
		add(aliasMistake(alias, c.ModelAliases[alias], "default", "unknown"))
	}
	if err := (*container.Container)(c.Container).Check(); err != nil {
		add(mistake(err.Option, "%s", err.Message))
	}
	return list
}

// aliasMistake refuses an alias that no request could use: taken are the names that leave the choice to the CLI.
func aliasMistake(alias, model string, taken ...string) *BackendError {
	const field = "config.model_aliases"
	name := strings.TrimSpace(alias)
	switch {
	case name == "" || strings.TrimSpace(model) == "":
		return mistake(field, "%q: %q stands for no model: give both names", alias, model)
	case name != alias:
		return mistake(field, "%q has blanks around it, which are cut off the model of a request", alias)
	case slices.Contains(taken, alias):
		return mistake(field, "%q leaves the choice of the model to the CLI: take another name", alias)
	}
	return nil
}

// aliasMistakes are the aliases that the backend's own names have taken.
func (p *Provider) aliasMistakes() (list []*BackendError) {
	for _, alias := range slices.Sorted(maps.Keys(p.cfg.ModelAliases)) {
		if slices.Contains([]string{p.name, p.given.ProviderSlug, p.given.DefaultModel}, alias) && alias != "" {
			list = append(list, aliasMistake(alias, "-", alias))
		}
	}
	return list
}

// word refuses a word that is not in the list: it may have been meant as a
// guard. The empty one is the default.
func word[S ~string](field string, word S, words ...S) *BackendError {
	if word == "" || slices.Contains(words, word) {
		return nil
	}
	return mistake(field, "%q is none of %q", word, words)
}

func atLeastZero[N int | int64 | float64 | time.Duration](field string, n N) *BackendError {
	if n >= 0 && !math.IsInf(float64(n), 0) {
		return nil
	}
	return mistake(field, "%v is no bound: leave it zero for the default", n)
}

// Validate returns all mistakes in the settings as one error, as
// [Config.Validate] does.
func (c ChainConfig) Validate() error { return joined(append(c.Config.mistakes(), c.ownMistakes()...)) }

// ownMistakes are those in the fields that are not Config's.
func (c *ChainConfig) ownMistakes() (list []*BackendError) {
	for _, err := range []*BackendError{
		atLeastZero("min_attempt", c.MinAttempt),
		atLeastZero("max_cost_usd", c.MaxCostUSD),
		word("replay", c.Replay, ReplayIfIdempotent, ReplayAlways, ReplayNever),
	} {
		if err != nil {
			list = append(list, err)
		}
	}
	_, wrong := policyWith(c.Policy)
	return append(list, wrong...)
}

// Validate returns what is wrong with the spec and the settings as one error;
// nil if nothing is. Every call fails in the same way.
func (p *Provider) Validate() error {
	if err := p.label(p.wrong()); err != nil {
		return err
	}
	return nil
}

// wrong is what is wrong with the Provider itself. The spec need not be compiled for it.
func (p *Provider) wrong() *BackendError {
	p.check()
	switch {
	case p.broken != nil:
		return new(*p.broken)
	case p.given == nil:
		return mistake("provider", "has no CLI: make it with NewProvider")
	}
	if _, err := p.overlay(); err != nil {
		return mistake("spec", "%s", err)
	}
	return nil
}

// Validate returns what is wrong with the chain and each of its backends as one
// error; nil if nothing is. A mistake in the chain's own settings, or two
// backends of one name, fails every call. A backend that is misconfigured fails
// none: every call passes it over, and names it, and so does [Chain.Ready].
func (c *Chain) Validate() error {
	var list []*BackendError
	if c.broken != nil {
		list = append(list, c.broken)
	}
	return joined(append(list, c.sick()...))
}

// take takes the backends, and keeps what is wrong with the list of them and
// with the settings.
func (c *Chain) take(backends []Backend) {
	mistakes, names := c.cfg.ownMistakes(), map[string]int{}
	for i, b := range backends {
		field := fmt.Sprintf("backends[%d]", i)
		if v := reflect.ValueOf(b); b == nil || v.Kind() == reflect.Pointer && v.IsNil() {
			mistakes = append(mistakes, mistake(field, "is nil"))
			continue
		}
		c.backends = append(c.backends, b)
		if inner, ok := b.(*Chain); ok && inner.cfg.Name == "" {
			continue // its backends are told apart
		}
		if _, own := b.(*Provider); b.Name() == "" && !own { // which tells of it itself
			mistakes = append(mistakes, mistake(field, "has no name, by which attempts, models and cooldowns could tell of it"))
		}
		first, twice := names[b.Name()]
		if twice {
			mistakes = append(mistakes, mistake(field,
				"is called %q, as backends[%d] is: nobody could tell them apart; Config.Name gives another name", b.Name(), first))
			continue
		}
		names[b.Name()] = i
	}
	c.broken = oneOf("chain", mistakes)
}

// sick is what is wrong with single backends.
func (c *Chain) sick() []*BackendError {
	c.look.Do(func() {
		for _, b := range c.backends {
			c.ill = append(c.ill, sickIn(b)...)
		}
	})
	return c.ill
}

// examine validates all backends in a goroutine, because the answer of a call names the mistakes in them. Call wait
// before the end of the call.
func (c *Chain) examine() (wait func()) { return inBackground(func() { c.sick() }) }

// sickIn is what is wrong with a backend, or with those of a chain inside.
func sickIn(b Backend) []*BackendError {
	if inner, ok := b.(*Chain); ok {
		sick := slices.Clone(inner.sick())
		if inner.broken != nil {
			broken := *inner.broken
			broken.Backend = inner.Name()
			sick = append(sick, &broken)
		}
		return sick
	}
	if p := providerIn(b); p != nil {
		if err := p.label(p.wrong()); err != nil {
			return []*BackendError{err}
		}
	}
	return nil
}

// nameSick tells of the backends that are misconfigured in an answer that
// another one gave.
func (c *Chain) nameSick(resp *Response) {
	for _, err := range c.sick() {
		addWarning(resp, "misconfigured, and passed over: "+err.Error())
	}
}

// addWarning adds a warning that is not empty, once.
func addWarning(resp *Response, warning string) {
	if warning != "" && !slices.Contains(resp.Warnings, warning) {
		resp.Warnings = append(slices.Clip(resp.Warnings), warning)
	}
}
