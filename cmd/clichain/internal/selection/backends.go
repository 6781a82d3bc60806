package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/settings"
)

// Selection has the backends of a command, in their order, and the configuration from the flags and the settings.
type Selection struct {
	Providers
	Config clichain.Config      // of each backend, without its Binary and Account
	Chain  clichain.ChainConfig // Budget, Reserve, Store, NoCooldown, and Hooks that log the calls

	catalog Catalog
	specs   []clichain.CliSpec // of the Providers
}

// Select selects the backends of a command and completes f with the settings.
func (r *Resolver) Select(f *param.Values) (*Selection, error) {
	if err := r.Settle(f); err != nil {
		return nil, err
	}
	c, err := r.Catalog(f.SpecFiles)
	if err != nil {
		return nil, err
	}
	if named, source := r.accounts(); source != "" {
		if err := c.Known(source, maps.Keys(named)); err != nil {
			return nil, err
		}
	}
	reserve := f.Reserve.Reserve()
	for flag, named := range map[string]iter.Seq[string]{
		"--binary": maps.Keys(f.Binaries), "--account": maps.Keys(f.Accounts),
		"--extra": maps.Keys(f.Request.Options.Extra), r.originOf(f.Reserve): slices.Values(reserve.Named()),
	} {
		if err := c.Known(flag, named); err != nil {
			return nil, err
		}
	}
	chosen, err := r.Choose(c, f.Only)
	if err != nil {
		return nil, err
	}
	s := &Selection{
		Providers: NewProviders(chosen, f), Config: f.Config, catalog: c, specs: chosen,
		Chain: clichain.ChainConfig{
			Budget: f.Budget, Reserve: reserve, Store: r.Cooldowns(), NoCooldown: f.NoCooldown,
		},
	}
	if s.Chain.Hooks, err = r.logHooks(); err != nil {
		return nil, err
	}
	return s, nil
}

// accounts returns the accounts in the settings, and their source; "" if there are none.
func (r *Resolver) accounts() (named map[string]string, source string) {
	c, err := r.Settings()
	if err != nil || c.Accounts == "" {
		return nil, ""
	}
	return c.Accounts.Map(), c.origin("accounts")
}

// originOf returns the name of the flag or the setting that contains a reserve.
func (r *Resolver) originOf(reserve settings.Reserve) string {
	if c, err := r.Settings(); err == nil && reserve != "" && reserve == c.Reserve {
		return c.origin("reserve")
	}
	return "--reserve"
}

// SelectAvailable selects the backends of a command. If none of them is available, it fails and prints the installed
// CLIs that the user could name instead.
func (r *Resolver) SelectAvailable(ctx context.Context, f *param.Values) (*Selection, error) {
	s, err := r.Select(f)
	if err != nil {
		return nil, err
	}
	if err = s.available(ctx); err == nil {
		return s, nil
	}
	r.WarnDoubts(s.Providers)
	if len(f.Only) == 0 {
		for _, spec := range s.catalog.Unasked(s.specs, f.Binaries) {
			fmt.Fprintf(r.Err, "clichain: %s: %s\n", UnaskedText(spec.Name), UnaskedHint(spec.Name))
		}
	}
	return nil, err
}

// WarnDoubts prints the errors in SKIP_CLI, for commands whose output has no warnings.
func (r *Resolver) WarnDoubts(providers Providers) {
	if len(providers) == 0 {
		return
	}
	for _, doubt := range providers[0].Status("").Doubts {
		fmt.Fprintln(r.Err, "clichain: warning:", terminal.OneLine(doubt))
	}
}

// NewChain makes the chain of the backends.
func (s *Selection) NewChain(hooks *clichain.Hooks) *clichain.Chain {
	return s.NewChainOf(s.Backends(), hooks)
}

// NewChainOf makes the chain of backends that wrap those of the selection.
func (s *Selection) NewChainOf(backends []clichain.Backend, hooks *clichain.Hooks) *clichain.Chain {
	cfg := s.Chain
	cfg.Hooks = clichain.JoinHooks(cfg.Hooks, hooks)
	return clichain.ChainOf(backends, &cfg)
}

// Providers are the backends of a command.
type Providers []*clichain.Provider

// NewProviders makes a backend of each spec.
func NewProviders(list []clichain.CliSpec, f *param.Values) (providers Providers) {
	for _, spec := range list {
		own := f.Config
		own.Binary, own.Account = cmp.Or(f.Binaries[spec.Name], f.Binaries[spec.InstanceOf]), f.Accounts[spec.Name]
		providers = append(providers, clichain.NewProvider(spec, &own))
	}
	return providers
}

// Backends returns the providers as backends of a chain.
func (list Providers) Backends() (backends []clichain.Backend) {
	for _, p := range list {
		backends = append(backends, p)
	}
	return backends
}

// available returns an error if no backend is available. Commands call it before they read stdin, which may never end.
func (list Providers) available(ctx context.Context) error {
	var attempts []clichain.Attempt
	for _, p := range list {
		err, unavailable := errors.AsType[*clichain.BackendError](p.Available(ctx))
		if !unavailable {
			return nil
		}
		attempts = append(attempts, clichain.Attempt{Backend: p.Name(), Reason: err.Reason, Skipped: true, Err: err})
	}
	failed := &clichain.ChainError{Attempts: attempts}
	return console.Fail(console.ChainStatus(failed, false), failed)
}

// Unasked returns the specs whose program is installed but that calls do not try, because nothing names them.
func (c *Catalog) Unasked(asked []clichain.CliSpec, programs map[string]string) (list []clichain.CliSpec) {
	for _, spec := range c.All {
		p := clichain.NewProvider(spec, &clichain.Config{Binary: programs[spec.Name]})
		if IndexOf(asked, spec.Name) < 0 && p.Status("").Path != "" {
			list = append(list, spec)
		}
	}
	return list
}

// UnaskedText returns the remark about an installed backend that calls do not try.
func UnaskedText(name string) string {
	return name + " is installed, and asked only where it is named"
}

// UnaskedHint returns the hint how to try such a backend.
func UnaskedHint(name string) string {
	return fmt.Sprintf("ask it with `clichain ask --only %s`, or name it in %s", name, OrderVariable)
}
