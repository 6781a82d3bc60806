package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
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

The prompt is the argument, or stdin, or both: the argument, an empty line, and
stdin. A prompt that begins with a dash stands behind "--".

Exit status: 0 answered; 1 every backend failed; 2 a mistake in the flags or the
input; 3 nothing to try; 124 out of time; 130 interrupted.

Environment: CLICHAIN_ORDER (names, comma separated), CLICHAIN_TIMEOUT (such as
90s), CLICHAIN_SPECS (a file), SKIP_CLI (1, or names) to turn CLIs off,
CLICHAIN_COOLDOWNS (a file, or off) for the cooldowns of CLIs that failed.`,
		Example: `  clichain ask "What does errno 11 mean?"
  git diff | clichain ask "Review this" --only codex,claude
  clichain ask --json -- "--help: what does it do?"`,
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
	billing := oneOf(call.BillingSubscription, call.BillingAPIKey)
	sandbox := oneOf(clichain.SandboxAuto, clichain.SandboxOn, clichain.SandboxOff)
	flags.BoolVar(&f.json, "json", false, "the whole response, or one event a line, as JSON")
	flags.BoolVar(&f.stream, "stream", false, "text as it comes (the default on a terminal)")
	flags.BoolVar(&f.trace, "trace", false, "show on stderr what was tried, and for how long")
	flags.StringVar(&f.system, "system", "", "system prompt `text`")
	flags.StringVar(&req.Model, "model", "", "model `name`, backend/name, or a backend")
	flags.Func("only", "try these backends, such as `a,b`, in this order", into(&f.only, parseNames))
	flags.Func("access", "`level` of what the agent may do: none, read, write or full", into(&req.Access, parseAccess))
	flags.BoolVar(&f.cfg.Agent, "agent", false, "limits for the work of an agent: 600s, 10 turns, tools for files; needs --access")
	flags.Func("timeout", "limit for each backend, a `duration` (default "+clichain.DefaultTimeout.String()+")",
		into(&f.cfg.Timeout, parseDuration))
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
	flags.Func("billing", "`who` alone may pay: subscription or api_key", into(&f.cfg.Billing, billing))
	flags.Func("sandbox", "`mode` auto, on or off: skip what cannot work in a sandbox", into(&f.cfg.Sandbox, sandbox))
	flags.StringSliceVar(&f.cfg.PassEnv, "pass-env", nil, "`name`s of more variables it may see, also FOO_*")
	flags.BoolVar(&f.noCooldown, "no-cooldown", false, "ignore the cooldowns of earlier calls, and record none")
	addSpecFlag(flags, &f.specFiles)
	addBinaryFlag(flags, &f.programs)
	f.accounts = map[string]string{}
	flags.Func("account", "name the login of a backend, `name=account`, for cooldowns that machines share", f.setAccount)
	for flag, words := range map[string][]string{"only": builtinNames(), "access": {"none", "read", "write", "full"}} {
		// Registering fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
}

// ask finds every mistake that can be found before it reads stdin or starts anything.
func (a *app) ask(ctx context.Context, f *askFlags, args []string) error {
	source, err := a.promptSource(args)
	if err != nil {
		return err
	}
	req, err := f.request()
	if err != nil {
		return err
	}
	providers, err := a.providers(f)
	if err != nil {
		return err
	}
	if err := nothingToTry(ctx, providers); err != nil {
		a.tellDoubts(providers)
		return err
	}
	prompt, err := source.read(ctx)
	if err != nil {
		return err
	}
	req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleUser, Content: prompt})
	return a.answer(ctx, f, providers, req)
}

// request is all of the request but the prompt.
func (f *askFlags) request() (req clichain.Request, err error) {
	req = f.req
	if req.Dir != "" && req.Access == clichain.AccessNone {
		return req, usagef("--dir: needs --access read, write or full: a question without access is asked in no directory")
	}
	if f.cfg.Agent && req.Access == clichain.AccessNone {
		return req, usagef("--agent: needs --access read, write or full: a question without access is no work for an agent")
	}
	if req.Options.Continue && req.Access == clichain.AccessNone {
		return req, usagef("--continue: needs --access read, write or full: a question without access is asked in no directory")
	}
	for _, value := range f.mcp {
		element := json.RawMessage(value)
		if !strings.HasPrefix(strings.TrimSpace(value), "{") {
			element, _ = json.Marshal(value) // a string always marshals
		}
		req.Options.MCPConfig = append(req.Options.MCPConfig, element)
	}
	if req.Options.Agents, err = readFlagFile("--agents", f.agents); err != nil {
		return req, err
	}
	for _, value := range f.extra {
		backend, argument, ok := strings.Cut(value, "=")
		if !ok || backend == "" {
			return req, usagef("--extra: %q: write backend=argument", value)
		}
		if req.Options.Extra == nil {
			req.Options.Extra = map[string][]string{}
		}
		req.Options.Extra[backend] = append(req.Options.Extra[backend], argument)
	}
	if f.system != "" {
		req.Messages = []clichain.Message{{Role: clichain.RoleSystem, Content: f.system}}
	}
	if req.Schema, err = readFlagFile("--schema", f.schema); err != nil || f.schema == "" {
		return req, err
	}
	if err := json.Unmarshal(req.Schema, new(any)); err != nil {
		return req, usagef("--schema: %s is no JSON: %v", f.schema, err)
	}
	return req, nil
}

func (f *askFlags) setAccount(text string) error {
	name, account, ok := strings.Cut(text, "=")
	if !ok || name == "" || account == "" {
		return errors.New("write backend=account, such as claude=team")
	}
	f.accounts[name] = account
	return nil
}

func (f *askFlags) setEnv(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("write NAME=value, such as JOB_ID=7")
	}
	if f.req.Env == nil {
		f.req.Env = map[string]string{}
	}
	f.req.Env[name] = value
	return nil
}

// readFlagFile reads the file that a flag names; without a name there is nothing to read.
func readFlagFile(flag, file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("%s: %v", flag, err)
	}
	return data, nil
}

func (a *app) providers(f *askFlags) (backends []clichain.Backend, err error) {
	if f.cfg.Timeout, err = a.timeout(f.cfg.Timeout); err != nil {
		return nil, err
	}
	all, err := a.loadSpecs(f.specFiles)
	if err != nil {
		return nil, err
	}
	for flag, named := range map[string]map[string]string{"--binary": f.programs, "--account": f.accounts} {
		if err := known(flag, named, all); err != nil {
			return nil, err
		}
	}
	chosen, err := a.inOrder(all, f.only)
	return f.programs.providers(chosen, f.accounts, f.cfg), err
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
