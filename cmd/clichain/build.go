package main

import (
	"context"
	"errors"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/runs"
	"github.com/spf13/cobra"
)

func (a *app) buildCommand() *cobra.Command {
	f := &askFlags{}
	cmd := &cobra.Command{
		Use:   "build [PROMPT]",
		Short: "Print what ask would run, and run nothing",
		Long: `Print what "clichain ask" with the same flags would run, in its order: the first
of them is asked, the others where those before have failed. What would be
skipped is there with its reason.

Nothing is started and nothing is sent. Texts stand by their size, variables by
their name, "{temp}" for a folder that a call makes for its files. The exit
status is 3 where nothing would be run.`,
		Example: `  clichain build "What does errno 11 mean?"
  clichain build --json --only codex --access read --dir . "Review this" | jq .backends[0].command.args`,
		Args: console.AtMostOneArg("build", "PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.build(cmd.Context(), f, args) },
	}
	f.register(cmd)
	cmd.Flags().Lookup("json").Usage = "print JSON"
	for _, name := range []string{"stream", "trace"} { // of ask, without effect here
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

// step is what a call would do with one backend. Exactly one of Command and Skip is set.
type step struct {
	Backend string        `json:"backend"`
	Command *runs.Command `json:"command,omitempty"`
	Skip    *skip         `json:"skip,omitempty"`
}

// skip is why a backend would not be run.
type skip struct {
	Reason  clichain.Reason `json:"reason"`
	Message string          `json:"message"`
	Hint    string          `json:"hint,omitempty"`
}

func skipOf(be *clichain.BackendError) *skip {
	return &skip{be.Reason, be.Detail(), call.JoinHint(be.Hint, be.Advice, console.AdviceText)}
}

func (a *app) build(ctx context.Context, f *askFlags, args []string) error {
	q, err := a.question(ctx, &f.Values, args)
	if err != nil {
		return err
	}
	req, err := q.read(ctx)
	if err != nil {
		return err
	}
	steps, err := stepsOf(ctx, a.chain(f, q.backends, nil), req)
	if err != nil {
		return err
	}
	a.WarnDoubts(q.backends)
	if f.json {
		err = a.PrintJSON(map[string]any{"backends": steps})
	} else {
		err = a.Print(buildTable(steps, a.StyleOf(a.Out), console.Columns(a.Out)))
	}
	if err == nil && !slices.ContainsFunc(steps, func(s step) bool { return s.Command != nil }) {
		err = console.Fail(console.ExitNothing, nil) // the output says why
	}
	return err
}

// stepsOf is what a call would do with each backend. The error is that of a request that no backend could answer.
func stepsOf(ctx context.Context, chain *clichain.Chain, req clichain.Request) (steps []step, err error) {
	for _, b := range chain.Backends() {
		s := step{Backend: b.Name()}
		err := chain.Check(ctx, b, req)
		p := b.(*clichain.Provider) // the command makes no other
		if err == nil {
			s.Command, err = p.Command(ctx, req)
		}
		if be, failed := errors.AsType[*clichain.BackendError](err); failed {
			if slices.Contains(console.UsageReasons, be.Reason) && p.Validate() == nil { // else another backend may do
				return nil, console.Fail(console.ExitUsage, be)
			}
			s.Skip = skipOf(be)
		}
		steps = append(steps, s)
	}
	return steps, nil
}
