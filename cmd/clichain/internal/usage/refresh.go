package usage

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// refresh asks the selected CLIs that report their windows without a request to a model, and stores the reports. It
// prints the failures, and fails if no CLI reported its windows.
func refresh(ctx context.Context, r *selection.Resolver, f *usageFlags) error {
	s, err := r.Select(&f.Values)
	if err != nil {
		return err
	}
	if s.Chain.Store == nil {
		return console.Usagef(
			"--refresh: nothing keeps the reports, because cooldowns are off: see \"clichain help settings\"")
	}
	chain, asked := s.NewChain(nil), askable(ctx, s.Providers)
	if len(asked) == 0 {
		err := errors.New("--refresh: no selected CLI that is ready reports its usage windows without a request to a model")
		return console.Fail(console.ExitNothing, err)
	}
	failures := make([]error, len(asked))
	var running sync.WaitGroup
	for i, p := range asked {
		running.Go(func() { failures[i] = ask(ctx, chain, p) })
	}
	running.Wait()
	if ctx.Err() != nil {
		return console.Fail(console.ExitInterrupted, context.Cause(ctx))
	}
	failed := 0
	for _, err := range failures {
		if err != nil {
			fmt.Fprintln(r.Err, "clichain: warning:", terminal.OneLine(err.Error()))
			failed++
		}
	}
	if failed == len(asked) {
		return console.Fail(console.ExitFailed, errors.New("--refresh: no CLI reported its usage windows"))
	}
	return nil
}

// askable returns the ready backends whose CLI can be asked.
func askable(ctx context.Context, providers selection.Providers) (list selection.Providers) {
	for _, p := range providers {
		if p.Spec().Quota.Ask.Method != "" && p.Available(ctx) == nil {
			list = append(list, p)
		}
	}
	return list
}

// ask asks one CLI. A report without windows is a failure, because a user asked for it.
func ask(ctx context.Context, chain *clichain.Chain, p *clichain.Provider) error {
	windows, err := chain.AskQuota(ctx, p)
	if err == nil && len(windows) == 0 {
		empty := call.Errorf(call.ReasonBadOutput, "", "the CLI reported no usage windows")
		empty.Backend = p.Name()
		return empty
	}
	return err
}
