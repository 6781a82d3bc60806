package ask

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/copies"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/workspace"
	"github.com/spf13/cobra"
)

// workFlags are the flags of work.
type workFlags struct {
	param.Values
	json, trace bool
	copies      copies.Flags
	proposal
}

// NewWork makes the command work.
func NewWork(env *console.Env) *cobra.Command {
	r, f := selection.NewResolver(env), &workFlags{}
	cmd := &cobra.Command{
		Use:   "work [PROMPT]",
		Short: "Change a copy of a directory, check it, and show a patch",
		Long: `Let an agent work in a private copy of a directory. If the agent fails or the
command of --check fails, the next CLI begins with a new copy. The directory
changes only if you apply the patch.

On a terminal, the command shows the patch and asks whether to apply it.
Otherwise, without --apply, --patch or --branch, it prints the patch to stdout.`,
		Example: `  clichain work "Fix the failing test" --check "go test ./..."
  clichain work "Update eslint" --check "npm test" --carry node_modules
  clichain work "Add a changelog entry" --branch changelog`,
		Args: console.AtMostOneArg("work", "PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error { return work(cmd.Context(), r, f, args) },
	}
	flags := cmd.Flags()
	f.copies.Register(flags)
	flags.BoolVar(&f.apply, "apply", false, "apply the changes without a question")
	flags.StringVar(&f.patch, "patch", "", "write the patch to `file`")
	flags.StringVar(&f.branch, "branch", "", "commit the changes to a new branch with this `name`")
	flags.BoolVar(&f.json, "json", false, "print the response with the changes as JSON")
	flags.BoolVar(&f.trace, "trace", false, "print the attempts and their durations on stderr")
	cmd.MarkFlagsMutuallyExclusive("apply", "patch", "branch")
	param.Add(flags, cmd.Name(), &f.Values)
	r.AddFlags(flags)
	return cmd
}

func work(ctx context.Context, r *selection.Resolver, f *workFlags, args []string) error {
	f.Request.Access, f.Config.Agent = clichain.AccessWrite, true
	cfg, err := f.copies.Config()
	if err != nil {
		return err
	}
	q, err := newQuestion(ctx, r.Env, &f.Values, args)
	if err != nil {
		return err
	}
	s, err := r.SelectAvailable(ctx, &f.Values)
	if err != nil {
		return err
	}
	if f.dir, err = directory(q.req.Dir); err != nil {
		return err
	}
	if f.branch != "" {
		if err := workspace.CheckBranch(ctx, f.dir, f.branch); err != nil {
			return console.Usagef("--branch: %v", err)
		}
	}
	req, err := q.read(ctx)
	if err != nil {
		return err
	}
	resp, err := attemptWork(ctx, r, f, s, cfg, req)
	if err != nil {
		return err
	}
	return f.settle(ctx, r.Env, f.json, resp)
}

// attemptWork asks the CLIs, each in a new copy, and prints the failed attempts.
func attemptWork(
	ctx context.Context, r *selection.Resolver, f *workFlags, s *selection.Selection, cfg *workspace.Config,
	req clichain.Request,
) (*clichain.Response, error) {
	start := time.Now()
	_, shown := watch(r.Env, s, f.trace)
	resp, err := s.NewChainOf(copies.Wrap(s.Backends(), cfg), shown.hooks()).Complete(ctx, req)
	shown.end()
	took := time.Since(start)
	failed, _ := errors.AsType[*clichain.ChainError](err)
	if failed != nil {
		failed = withHints(failed, s, req.Access)
		r.WarnDoubts(s.Providers)
		err = console.Fail(console.ChainStatus(failed, s.Chain.Budget > 0 && took >= s.Chain.Budget), failed)
	}
	if f.trace {
		printTrace(r.Env, shown, resp, failed, took)
	}
	printChecks(r.Env, failed)
	printUnconfined(r.Err, s, req.Access, resp, failed)
	return resp, err
}

// printChecks prints the last lines of the checks that rejected the changes.
func printChecks(env *console.Env, failed *clichain.ChainError) {
	if failed == nil {
		return
	}
	style := env.StyleOf(env.Err)
	for _, a := range failed.Attempts {
		be, ok := a.Err.(*clichain.BackendError)
		if !ok || be.Reason != clichain.ReasonRejected || be.Stderr == "" {
			continue
		}
		fmt.Fprintf(env.Err, "clichain: the check of %s ended with:\n", a.Backend)
		lines := strings.Split(visible(be.Stderr), "\n")
		for _, line := range lines[max(0, len(lines)-checkLines):] {
			fmt.Fprintln(env.Err, style.Dim("  "+line))
		}
	}
}

// checkLines is the number of lines of a check that are printed.
const checkLines = 20

// directory returns the directory of a request, which is the working directory by default.
func directory(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", console.Fail(console.ExitFailed, fmt.Errorf("--dir: %w", err))
	}
	return dir, nil
}
