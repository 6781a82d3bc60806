// Package ask has the commands that ask a question, show what would be asked, and demonstrate it with fakes.
package ask

import (
	"context"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/spf13/cobra"
)

// askFlags are the flags of ask and build: those of the table and those of the output.
type askFlags struct {
	param.Values
	output
}

// output has the flags of ask that choose how the answer is printed.
type output struct{ json, stream, trace bool }

// NewAsk makes the command ask.
func NewAsk(env *console.Env) *cobra.Command {
	r, f := selection.NewResolver(env), &askFlags{}
	cmd := &cobra.Command{
		Use:   "ask [PROMPT]",
		Short: "Ask, and print the first answer",
		Long: `Ask the CLIs in order until one answers. The answer goes to stdout, everything
else to stderr.

The prompt is the argument, --prompt-file and stdin, as far as they are there,
with an empty line in between. A prompt that begins with a dash stands behind
"--". Stdin is read to its end unless it is a terminal: in a loop over lines of
it, --no-stdin keeps ask from taking the rest of them.

--timeout and --budget, where they are given, also limit how long stdin may take;
what it took of the budget is gone.

Exit status: 0 answered; 1 every backend failed; 2 a mistake in the flags or the
input; 3 nothing to try; 124 out of time; 130 interrupted.

Environment: CLICHAIN_ORDER (names, comma separated), CLICHAIN_TIMEOUT (such as
90s), CLICHAIN_AGENT_TIMEOUT for --agent, CLICHAIN_BUDGET, CLICHAIN_BILLING,
CLICHAIN_SPECS (files), CLICHAIN_COOLDOWNS (a file, or off) for the cooldowns of
CLIs that failed, and SKIP_CLI (1, or names) to turn CLIs off. All but the last
may stand in a settings file: see "clichain config --help".
Names are those of "clichain specs": some of them are asked only where --only or
CLICHAIN_ORDER has them.`,
		Example: `  clichain ask "What does errno 11 mean?"
  git diff | clichain ask "Review this" --only codex,claude
  clichain ask --json -- "--help: what does it do?"
  ls *.go | while read -r f; do clichain ask --no-stdin "What is $f for?"; done`,
		Args: console.AtMostOneArg("ask", "PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("stream") {
				f.stream = !f.json && f.Schema == "" && terminal.Is(env.Out)
			}
			return ask(cmd.Context(), r, f, args)
		},
	}
	f.register(cmd)
	r.AddFlags(cmd.Flags())
	return cmd
}

func (f *askFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "the whole response, or one event a line, as JSON")
	flags.BoolVar(&f.stream, "stream", false, "text as it comes (the default on a terminal)")
	flags.BoolVar(&f.trace, "trace", false, "show on stderr what was tried, and for how long")
	param.Add(flags, cmd.Name(), &f.Values)
}

func ask(ctx context.Context, r *selection.Resolver, f *askFlags, args []string) error {
	countStdin := f.Budget > 0 // the budget of a setting does not include the time to read stdin
	q, err := newQuestion(ctx, r.Env, &f.Values, args)
	if err != nil {
		return err
	}
	s, err := r.SelectAvailable(ctx, &f.Values)
	if err != nil {
		return err
	}
	began := time.Now()
	req, err := q.read(ctx)
	if err != nil {
		return err
	}
	if countStdin {
		s.Chain.Budget = max(s.Chain.Budget-time.Since(began), time.Nanosecond)
	}
	return printAnswer(ctx, r, f.output, s, req)
}
