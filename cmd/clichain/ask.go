package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/settings"
	"github.com/spf13/cobra"
)

// askFlags is what the command line says about a question. Flags that need no more than parsing are in req and cfg.
type askFlags struct {
	json, stream, trace     bool
	streamGiven, noCooldown bool
	only, specFiles         []string
	programs                binaries
	accounts                map[string]string
	budget                  time.Duration
	billing                 settings.Payer
	noStdin                 bool
	promptFile, systemFile  string
	system, schema, agents  string
	mcp, extra              []string
	req                     clichain.Request
	cfg                     clichain.Config
}

func (a *app) askCommand() *cobra.Command {
	f := &askFlags{}
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
		Args: atMostOne("ask", "PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.streamGiven = cmd.Flags().Changed("stream")
			return a.ask(cmd.Context(), f, args)
		},
	}
	f.register(cmd)
	return cmd
}

// register declares the flags in the order in which the help text lists them.
func (f *askFlags) register(cmd *cobra.Command) {
	flags, req, opts := cmd.Flags(), &f.req, &f.req.Options
	flags.SortFlags = false
	sandbox := oneOf(sandboxModes...)
	flags.BoolVar(&f.json, "json", false, "the whole response, or one event a line, as JSON")
	flags.BoolVar(&f.stream, "stream", false, "text as it comes (the default on a terminal)")
	flags.BoolVar(&f.trace, "trace", false, "show on stderr what was tried, and for how long")
	flags.StringVar(&f.promptFile, "prompt-file", "", "`file` with the prompt, behind that of the command line")
	flags.BoolVar(&f.noStdin, "no-stdin", false, "leave stdin alone, also where it is no terminal")
	flags.StringVar(&f.system, "system", "", "system prompt `text`")
	flags.StringVar(&f.systemFile, "system-file", "", "`file` with the system prompt")
	flags.StringVar(&req.Model, "model", "", "model `name`, backend/name, or a backend")
	flags.Func("only", "try these backends, such as `a,b`, in this order", into(&f.only, parseNames))
	flags.Func("access", "`level` of what the agent may do: none, read, write or full", into(&req.Access, parseAccess))
	flags.BoolVar(&f.cfg.Agent, "agent", false,
		"limits for the work of an agent: 600s, 10 turns, tools for files; needs --access")
	flags.Func("timeout", "limit for each backend, a `duration` (default "+clichain.DefaultTimeout.String()+")",
		into(&f.cfg.Timeout, parseDuration))
	flags.Func("idle-timeout", "limit for how long a CLI may say nothing, a `duration` (default none, with --agent 3m)",
		into(&f.cfg.IdleTimeout, parseDuration))
	flags.Func("budget", "limit for all of them together, a `duration`", into(&f.budget, parseDuration))
	flags.StringVar(&f.schema, "schema", "", "`file` with a JSON Schema for the answer")
	flags.StringVar(&req.Dir, "dir", "", "`directory` to work in, with more access than none")
	flags.BoolVar(&f.cfg.TrustDir, "trust-dir", false, "let settings, hooks and instructions in it steer the CLI")
	flags.StringVar(&req.Session, "session", "", "`session` of an earlier response, or backend:id, to go on")
	flags.BoolVar(&opts.Continue, "continue", false, "go on from the newest session of the directory")
	flags.StringVar(&opts.SessionID, "session-id", "", "`id` of the new session, where the CLI takes one")
	flags.Func("max-turns", "limit of `n` turns for the agent", into(&opts.MaxTurns, parseCount))
	flags.Func("max-budget-usd", "limit for the cost in `usd`", into(&opts.MaxBudgetUSD, parseDollars))
	flags.StringVar(&opts.Effort, "effort", "", "reasoning effort, a `level` the CLI knows")
	flags.StringSliceVar(&opts.AllowedTools, "allow-tool", nil, "`tool` that the agent may use, in the CLI's own terms")
	flags.StringSliceVar(&opts.DisallowedTools, "deny-tool", nil, "`tool` that it may not")
	flags.StringVar(&opts.PermissionMode, "permission-mode", "", "permission `mode`, in the CLI's own terms")
	flags.StringVar((*string)(&opts.SystemMode), "system-mode", "", "append to the CLI's system prompt, or replace it")
	flags.StringVar(&opts.AppendSystem, "append-system", "", "`text` that is added to the system prompt")
	flags.Func("env", "set a variable of the CLI, `NAME=value`; a secret: --pass-env", f.setEnv)
	flags.StringArrayVar(&f.mcp, "mcp-config", nil, "`file` with MCP servers, or the JSON itself")
	flags.BoolVar(&opts.StrictMCP, "strict-mcp", false, "no MCP servers but those")
	flags.StringVar(&opts.FallbackModel, "fallback-model", "", "`model` the CLI turns to when the first is overloaded")
	flags.StringVar(&f.agents, "agents", "", "`file` with subagents as JSON")
	flags.BoolVar(&opts.NoSessionPersistence, "no-session", false, "store nothing to go on from")
	flags.StringArrayVar(&opts.AddDirs, "add-dir", nil, "further `directory` to work in")
	flags.StringArrayVar(&opts.Images, "image", nil, "image `file` to look at")
	flags.StringArrayVar(&f.extra, "extra", nil, "raw argument for one CLI, as `backend=argument`")
	flags.Func("billing", "`who` alone may pay: subscription, api_key or any", into(&f.billing, parsePayer))
	flags.Func("sandbox", "`mode` auto, on or off: skip what cannot work in a sandbox", into(&f.cfg.Sandbox, sandbox))
	flags.StringSliceVar(&f.cfg.PassEnv, "pass-env", nil, "`name`s of more variables it may see, also FOO_*")
	flags.BoolVar(&f.cfg.RedactAnswers, "redact-answers", false, "take secrets of the environment out of answers too")
	flags.BoolVar(&f.noCooldown, "no-cooldown", false, "ignore the cooldowns of earlier calls, and record none")
	addSpecFlag(flags, &f.specFiles)
	addBinaryFlag(flags, &f.programs)
	f.accounts = map[string]string{}
	flags.Func("account", "name the login of a backend, `name=account`, for cooldowns that machines share", f.setAccount)
}

func (a *app) ask(ctx context.Context, f *askFlags, args []string) error {
	limited := f.budget > 0 // by the flag; a setting leaves out how long stdin takes
	q, err := a.question(ctx, f, args)
	if err != nil {
		return err
	}
	if err := a.available(ctx, f, q.backends); err != nil {
		return err
	}
	began := time.Now()
	req, err := q.read(ctx)
	if err != nil {
		return err
	}
	if limited {
		f.budget = max(f.budget-time.Since(began), time.Nanosecond)
	}
	return a.answer(ctx, f, q.backends, req)
}

func (a *app) providers(f *askFlags) (backends []clichain.Backend, err error) {
	if err := a.settle(f); err != nil {
		return nil, err
	}
	c, err := a.loadSpecs(f.specFiles)
	if err != nil {
		return nil, err
	}
	extra, err := f.rawArguments()
	if err != nil {
		return nil, err
	}
	for flag, named := range map[string]iter.Seq[string]{
		"--binary": maps.Keys(f.programs), "--account": maps.Keys(f.accounts), "--extra": maps.Keys(extra),
	} {
		if err := c.known(flag, named); err != nil {
			return nil, err
		}
	}
	chosen, err := a.inOrder(c, f.only)
	return f.programs.providers(chosen, f.accounts, f.cfg), err
}

// available refuses a chain in which no backend is, and names what could be asked instead.
func (a *app) available(ctx context.Context, f *askFlags, backends []clichain.Backend) error {
	err := nothingToTry(ctx, backends)
	if err == nil {
		return nil
	}
	a.tellDoubts(backends)
	if c, broken := a.loadSpecs(f.specFiles); broken == nil && len(f.only) == 0 {
		asked, _ := a.inOrder(c, nil) // a mistake in the order has been told
		for _, spec := range a.unasked(c, asked, f.programs) {
			fmt.Fprintf(a.err, "clichain: %s: %s\n", unaskedText(spec.Name), unaskedHint(spec.Name))
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
	return &statusError{chainStatus(failed, false), failed}
}
