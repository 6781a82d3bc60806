package clichain

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/container"
	"github.com/clichain/clichain/internal/grammar"
)

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
	err := call.ConfigError(field, joined(mistakes))
	err.Message = strings.Join(texts, "; ")
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
		add(call.ConfigErrorf("config.name", "%q %s", c.Name, err))
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
		add(call.ConfigErrorf("config.slots",
			"a channel without a capacity lets nothing run: make(chan struct{}, n) for n at once"))
	}
	for i, kv := range c.Env {
		if name, _, ok := strings.Cut(kv, "="); name == "" || !ok || strings.Contains(kv, "\x00") {
			// The value may be a secret.
			add(call.ConfigErrorf(fmt.Sprintf("config.env[%d]", i), "is not of the form NAME=value"))
		}
	}
	for i, name := range c.PassEnv {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			add(call.ConfigErrorf(fmt.Sprintf("config.pass_env[%d]", i), "%q is no name of a variable", name))
		}
	}
	for i, name := range c.RequestEnv {
		if !grammar.IsVariablePattern(name) {
			add(call.ConfigErrorf(fmt.Sprintf("config.request_env[%d]", i),
				`%q is neither the name of a variable nor the beginning of some and a "*"`, name))
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(c.ModelAliases)) {
		add(aliasMistake(alias, c.ModelAliases[alias], "default", "unknown"))
	}
	if err := (*container.Container)(c.Container).Check(); err != nil {
		add(call.ConfigErrorf(err.Option, "%s", err.Message))
	}
	return list
}

// aliasMistake refuses an alias that no request could use: taken are the names that leave the choice to the CLI.
func aliasMistake(alias, model string, taken ...string) *BackendError {
	const field = "config.model_aliases"
	name := strings.TrimSpace(alias)
	switch {
	case name == "" || strings.TrimSpace(model) == "":
		return call.ConfigErrorf(field, "%q: %q stands for no model: give both names", alias, model)
	case name != alias:
		return call.ConfigErrorf(field, "%q has blanks around it, which are cut off the model of a request", alias)
	case slices.Contains(taken, alias):
		return call.ConfigErrorf(field, "%q leaves the choice of the model to the CLI: take another name", alias)
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
	return call.ConfigErrorf(field, "%q is none of %q", word, words)
}

func atLeastZero[N int | int64 | float64 | time.Duration](field string, n N) *BackendError {
	if n >= 0 && !math.IsInf(float64(n), 0) {
		return nil
	}
	return call.ConfigErrorf(field, "%v is no bound: leave it zero for the default", n)
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
		return call.ConfigErrorf("provider", "has no CLI: make it with NewProvider")
	}
	if _, err := p.overlay(); err != nil {
		return call.ConfigErrorf("spec", "%s", err)
	}
	return nil
}
