// Package ask has the commands ask, build and demo.
package ask

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain/accept"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/settings"
	"github.com/spf13/cobra"
)

// askFlags are the flags of ask and build: the flags of the shared table, and flags about the output.
type askFlags struct {
	param.Values
	output
	check  string
	record settings.Switch
}

// output has the flags of ask that choose how the answer is printed.
type output struct{ json, stream, trace, verbose bool }

// NewAsk makes the command ask.
func NewAsk(env *console.Env) *cobra.Command {
	r, f := selection.NewResolver(env), &askFlags{}
	cmd := &cobra.Command{
		Use:   "ask [PROMPT]",
		Short: "Ask the CLIs in order and print the first answer",
		Long: `Ask the CLIs in order until one answers, and print the answer to stdout and
everything else to stderr.

The prompt is PROMPT, then the content of --prompt-file, then stdin, separated
by blank lines. Stdin is read to its end, unless it is a terminal or --no-stdin
is set, as in a loop that reads stdin. Both --timeout and --budget include the
time of reading stdin. --continue sends the prompt to the last conversation of
the working directory.`,
		Example: `  clichain ask "What does errno 11 mean?"
  git diff | clichain ask "Review this" --only codex,claude
  clichain ask --json -- "--help: what does it do?"`,
		Args: console.AtMostOneArg("ask", "PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("stream") {
				f.stream = !f.json && f.Schema == "" && f.check == "" && terminal.Is(env.Out)
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
	flags.BoolVar(&f.json, "json", false, "print the response as JSON, or with --stream one event per line")
	flags.BoolVar(&f.stream, "stream", false, "print the text while it arrives (default on a terminal)")
	flags.StringVar(&f.check, "check", "", "`command`: reject an answer on whose text this command does not exit with 0")
	flags.BoolVar(&f.trace, "trace", false, "print the attempts and their durations on stderr")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print the session of the answer on stderr")
	param.Add(flags, cmd.Name(), &f.Values)
	flags.BoolFunc("record", "record the conversation, so that another backend can continue it", f.setRecord)
}

// setRecord parses the value of --record, which is "true" for the flag alone.
func (f *askFlags) setRecord(text string) error {
	on, err := strconv.ParseBool(text)
	if f.record = settings.Off; on {
		f.record = settings.On
	}
	return err
}

func ask(ctx context.Context, r *selection.Resolver, f *askFlags, args []string) error {
	countStdin := f.Budget > 0 // the budget of a setting does not include the time to read stdin
	q, err := newQuestion(ctx, r.Env, &f.Values, args)
	if err != nil {
		return err
	}
	check, err := newCheck(f.check)
	if err != nil {
		return err
	}
	s, err := r.SelectAvailable(ctx, &f.Values)
	if err != nil {
		return err
	}
	if check != nil {
		s.Chain.Accept = check.Accept
	}
	t, err := newTalk(r, f, q.req)
	if err != nil {
		return err
	}
	began := time.Now()
	prompt, err := q.source.Read(ctx)
	if err != nil {
		return err
	}
	if err := t.lock(ctx, lockLimit(s)); err != nil {
		return err
	}
	defer t.unlock()
	if countStdin {
		s.Chain.Budget = max(s.Chain.Budget-time.Since(began), time.Nanosecond)
	}
	return printAnswer(ctx, r, f.output, s, t, with(t.req, prompt))
}

// lockLimit limits the wait for other processes that continue the same conversation.
func lockLimit(s *selection.Selection) time.Duration {
	limit := param.BackendTimeout(&s.Config)
	if s.Chain.Budget > 0 {
		limit = min(limit, s.Chain.Budget)
	}
	return limit
}

// newCheck returns the program of --check, or nil without one. It does not run the program.
func newCheck(line string) (*accept.Command, error) {
	if line == "" {
		return nil, nil
	}
	words, err := accept.Split(line)
	if err == nil {
		var check *accept.Command
		if check, err = accept.NewCommand(words[0], words[1:]...); err == nil {
			return check, nil
		}
	}
	return nil, console.Usagef("--check: %s", strings.TrimPrefix(err.Error(), "accept: "))
}
