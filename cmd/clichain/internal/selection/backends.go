package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/request"
	"github.com/clichain/clichain/specs"
	"github.com/spf13/cobra"
)

import (
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Providers makes the backends that the flags and the settings choose, in their order.
func (r *Resolver) Providers(f *param.Values) (backends []clichain.Backend, err error) {
	if err := r.Settle(f); err != nil {
		return nil, err
	}
	c, err := r.Catalog(f.SpecFiles)
	if err != nil {
		return nil, err
	}
	extra, err := request.RawArguments(f)
	if err != nil {
		return nil, err
	}
	for flag, named := range map[string]iter.Seq[string]{
		"--binary": maps.Keys(f.Binaries), "--account": maps.Keys(f.Accounts), "--extra": maps.Keys(extra),
	} {
		if err := c.Known(flag, named); err != nil {
			return nil, err
		}
	}
	chosen, err := r.Choose(c, f.Only)
	return NewBackends(chosen, f), err
}

// Available refuses a chain in which no backend is, and names what could be asked instead.
func (r *Resolver) Available(ctx context.Context, f *param.Values, backends []clichain.Backend) error {
	err := nothingToTry(ctx, backends)
	if err == nil {
		return nil
	}
	r.WarnDoubts(backends)
	if c, broken := r.Catalog(f.SpecFiles); broken == nil && len(f.Only) == 0 {
		asked, _ := r.Choose(c, nil) // a mistake in the order has been told
		for _, spec := range c.Unasked(asked, f.Binaries) {
			fmt.Fprintf(r.Err, "clichain: %s: %s\n", UnaskedText(spec.Name), UnaskedHint(spec.Name))
		}
	}
	return err
}

// nothingToTry is the error of a chain in which no backend is available. It comes before stdin is read, because stdin
// may never end.
func nothingToTry(ctx context.Context, backends []clichain.Backend) error {
	var attempts []clichain.Attempt
	for _, b := range backends {
		provider, ok := b.(*clichain.Provider)
		if !ok {
			return nil
		}
		err, unavailable := errors.AsType[*clichain.BackendError](provider.Available(ctx))
		if !unavailable {
			return nil
		}
		attempts = append(attempts, clichain.Attempt{Backend: b.Name(), Reason: err.Reason, Skipped: true, Err: err})
	}
	failed := &clichain.ChainError{Attempts: attempts}
	return console.Fail(console.ChainStatus(failed, false), failed)
}

// WarnDoubts prints the mistakes in SKIP_CLI where no answer brings them as its warnings.
func (r *Resolver) WarnDoubts(backends []clichain.Backend) {
	for _, b := range backends {
		if p, ok := b.(*clichain.Provider); ok {
			for _, doubt := range p.Status("").Doubts {
				fmt.Fprintln(r.Err, "clichain: warning:", terminal.OneLine(doubt))
			}
			return // it is the same for all
		}
	}
}

// KnownSpecs are the specs of a command line that the shell completes: the built-in ones where its files have mistakes.
func (r *Resolver) KnownSpecs(cmd *cobra.Command) []clichain.CliSpec {
	files, _ := cmd.Flags().GetStringArray("spec") // not all commands have it
	c, err := r.Catalog(files)
	if err != nil {
		return specs.Every()
	}
	return c.All
}

// NewBackends makes a backend of each spec.
func NewBackends(list []clichain.CliSpec, f *param.Values) (backends []clichain.Backend) {
	for _, spec := range list {
		own := f.Config
		own.Binary, own.Account = cmp.Or(f.Binaries[spec.Name], f.Binaries[spec.InstanceOf]), f.Accounts[spec.Name]
		backends = append(backends, clichain.NewProvider(spec, &own))
	}
	return backends
}

// Unasked are the specs whose program is installed, and which no call asks because nothing names them.
func (c *Catalog) Unasked(asked []clichain.CliSpec, programs map[string]string) (list []clichain.CliSpec) {
	for _, spec := range c.All {
		p := clichain.NewProvider(spec, &clichain.Config{Binary: programs[spec.Name]})
		if IndexOf(asked, spec.Name) < 0 && p.Status("").Path != "" {
			list = append(list, spec)
		}
	}
	return list
}

// UnaskedText says that a backend is installed and no call asks it.
func UnaskedText(name string) string {
	return name + " is installed, and asked only where it is named"
}

// UnaskedHint says how to ask such a backend.
func UnaskedHint(name string) string {
	return fmt.Sprintf("ask it with `clichain ask --only %s`, or name it in %s", name, OrderVariable)
}
