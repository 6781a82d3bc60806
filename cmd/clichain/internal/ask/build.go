package ask

import (
	"context"
	"errors"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/runs"
	"github.com/spf13/cobra"
)

// NewBuild makes the command build.
func NewBuild(env *console.Env) *cobra.Command {
	r, f := selection.NewResolver(env), &askFlags{}
	cmd := &cobra.Command{
		Use:   "build [PROMPT]",
		Short: "Show what ask would run, without running it",
		Long: `Print the commands that "clichain ask" with the same flags would run, in order.
Ask runs the first command, and each further command only if those before it
failed. A backend that ask would skip is listed with the reason.

Nothing is started and nothing is sent. Prompts are replaced by their size,
environment variables by their name, and the temporary directory by "{temp}".`,
		Example: `  clichain build "What does errno 11 mean?"
  clichain build --only codex --access read --dir . "Review this"
  clichain build --json "Hello" | jq .backends[0].command.args`,
		Args: console.AtMostOneArg("build", "PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error { return build(cmd.Context(), r, f, args) },
	}
	f.register(cmd)
	r.AddFlags(cmd.Flags())
	cmd.Flags().Lookup("json").Usage = "print JSON"
	for _, name := range []string{"stream", "trace", "check", "verbose", "record"} { // of ask, without effect here
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

// Step is what a call would do with one backend. Exactly one of Command and Skip is set.
type Step struct {
	Backend string        `json:"backend"`
	Command *runs.Command `json:"command,omitempty"`
	Skip    *console.Skip `json:"skip,omitempty"`
}

func build(ctx context.Context, r *selection.Resolver, f *askFlags, args []string) error {
	q, err := newQuestion(ctx, r.Env, &f.Values, args)
	if err != nil {
		return err
	}
	s, err := r.Select(&f.Values)
	if err != nil {
		return err
	}
	t, err := newTalk(r, f, q.req)
	if err != nil {
		return err
	}
	prompt, err := q.source.Read(ctx)
	if err != nil {
		return err
	}
	if t.resumes {
		if err := t.resume(); err != nil {
			return err
		}
	}
	steps, err := stepsOf(ctx, s, with(t.req, prompt))
	if err != nil {
		return err
	}
	r.WarnDoubts(s.Providers)
	if f.json {
		err = r.PrintJSON(map[string]any{"backends": steps})
	} else {
		err = r.Print(buildTable(steps, r.StyleOf(r.Out), console.Columns(r.Out)))
	}
	if err == nil && !slices.ContainsFunc(steps, func(s Step) bool { return s.Command != nil }) {
		err = console.Fail(console.ExitNothing, nil) // the output says why
	}
	return err
}

// stepsOf returns what a call would do with each backend. It returns an error for a request that no backend can answer.
func stepsOf(ctx context.Context, selected *selection.Selection, req clichain.Request) (steps []Step, err error) {
	chain := selected.NewChain(nil)
	for _, p := range selected.Providers {
		s := Step{Backend: p.Name()}
		err := chain.Check(ctx, p, req)
		if err == nil {
			s.Command, err = p.Command(ctx, req)
		}
		if be, failed := errors.AsType[*clichain.BackendError](err); failed {
			if slices.Contains(console.UsageReasons, be.Reason) && p.Validate() == nil {
				return nil, console.Fail(console.ExitUsage, be)
			}
			s.Skip = console.NewSkip(be)
		}
		steps = append(steps, s)
	}
	return steps, nil
}
