package main

import (
	"fmt"
	"time"

	"github.com/clichain/clichain"
)

// trace shows on stderr what was tried, and who answered.
func (a *app) trace(resp *clichain.Response, failure *clichain.ChainError, took time.Duration) {
	var rows []row
	for _, attempt := range attemptsOf(resp, failure) {
		rows = append(rows, rowOf(attempt))
	}
	if resp != nil {
		rows = append(rows, row{name: resp.Backend, took: resp.Duration, state: answered, label: "answered"})
	}
	t := &timeline{out: a.err, style: a.styleOf(a.err), width: columns(a.err)}
	for _, r := range rows {
		t.names, t.full = max(t.names, min(len(r.name), 16)), max(t.full, r.took)
	}
	fmt.Fprintln(a.err)
	for _, r := range rows {
		t.draw(r)
	}
	fmt.Fprintf(a.err, "\n  %s\n", t.style.dim(summary(resp, took)))
}

func attemptsOf(resp *clichain.Response, failure *clichain.ChainError) []clichain.Attempt {
	if failure != nil {
		return failure.Attempts
	}
	if resp != nil {
		return resp.Attempts
	}
	return nil
}

// summary is one line about the whole call.
func summary(resp *clichain.Response, took time.Duration) string {
	if resp == nil {
		return "no answer after " + duration(took)
	}
	text := fmt.Sprintf("%s answered after %s", resp.Backend, duration(took))
	if u := resp.Usage; u.InputTokens > 0 || u.OutputTokens > 0 {
		text += fmt.Sprintf(", %d tokens in, %d out", u.InputTokens, u.OutputTokens)
	}
	if cost := resp.Usage.CostUSD; cost != nil {
		text += fmt.Sprintf(", $%.4f", *cost)
	}
	return text
}
