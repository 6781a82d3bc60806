package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain"
)

// answer asks the chain and prints what comes of it.
func (a *app) answer(ctx context.Context, f *askFlags, backends []clichain.Backend, req clichain.Request) error {
	cfg := &clichain.ChainConfig{Budget: f.budget}
	if !f.noCooldown {
		cfg.Store = a.cooldowns()
	}
	chain := clichain.ChainOf(backends, cfg)
	start := time.Now()
	resp, err := a.deliver(ctx, f, chain, req)
	took := time.Since(start)
	failed, _ := errors.AsType[*clichain.ChainError](err)
	if failed != nil {
		failed = hinted(failed)
		err = &statusError{chainStatus(failed, f.budget > 0 && took >= f.budget), failed}
	}
	if resp != nil && !f.json {
		a.warn(resp)
	}
	if f.trace {
		a.trace(resp, failed, took)
	}
	return err
}

// deliver prints the answer in the form that was asked for.
func (a *app) deliver(ctx context.Context, f *askFlags, chain *clichain.Chain, req clichain.Request) (*clichain.Response, error) {
	stream := f.stream || !f.givenStream && !f.json && f.schema == "" && isTerminal(a.out)
	if stream && f.json {
		return a.streamEvents(ctx, chain, req)
	}
	if stream {
		return a.streamText(ctx, chain, req)
	}
	resp, err := chain.Complete(ctx, req)
	if err != nil {
		return nil, err
	}
	if f.json {
		return resp, writeJSON(a.out, resp, isTerminal(a.out))
	}
	return resp, a.printText(resp.Text)
}

func (a *app) printText(text string) error {
	if isTerminal(a.out) {
		text = visible(text)
	}
	_, err := fmt.Fprintln(a.out, strings.TrimSuffix(text, "\n"))
	return outputError(err)
}

// warn says what a person should know although the answer stands.
func (a *app) warn(resp *clichain.Response) {
	for _, warning := range resp.Warnings {
		fmt.Fprintf(a.err, "clichain: %s: warning: %s\n", resp.Backend, oneLine(warning))
	}
}

// streamEvents prints one event a line; the last one holds the response.
func (a *app) streamEvents(ctx context.Context, chain *clichain.Chain, req clichain.Request) (*clichain.Response, error) {
	var resp *clichain.Response
	for e, err := range chain.Stream(ctx, req) {
		if err != nil {
			return nil, err
		}
		if err := writeJSON(a.out, e, false); err != nil {
			return nil, err
		}
		resp = e.Response
	}
	return resp, nil
}
