package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// askFlags is what the command line says about a question.
type askFlags struct {
	json, stream, trace bool

	only        []string
	specFiles   []string
	passEnv     []string
	timeout     time.Duration
	budget      time.Duration
	system      string
	model       string
	access      clichain.Access
	dir         string
	session     string
	schema      string
	options     optionFlags
	billing     call.Billing
	sandbox     clichain.SandboxPolicy
	noCooldown  bool
	givenStream bool
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
CLICHAIN_COOLDOWNS (a file, or off) for what rests after a failure.`,
		Example: `  clichain ask "What does errno 11 mean?"
  git diff | clichain ask "Review this" --only codex,claude
  clichain ask --json -- "--help: what does it do?"`,
		Args: atMostOne("ask", "PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.givenStream = cmd.Flags().Changed("stream")
			return a.ask(cmd.Context(), f, args)
		},
	}
	f.register(cmd)
	return cmd
}

// register declares the flags.
func (f *askFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.json, "json", false, "the whole response, or one event a line, as JSON")
	flags.BoolVar(&f.stream, "stream", false, "text as it comes (the default on a terminal)")
	flags.BoolVar(&f.trace, "trace", false, "show on stderr what was tried, and for how long")
	flags.StringVar(&f.system, "system", "", "system prompt `text`")
	flags.StringVar(&f.model, "model", "", "model `name`, backend/name, or a backend")
	flags.Var(&parsed[[]string]{value: &f.only, parse: parseNames, kind: "a,b"}, "only", "try these backends, in this order")
	flags.Var(&parsed[clichain.Access]{value: &f.access, parse: parseAccess, kind: "level"}, "access", "what the agent may do: none, read, write or full")
	flags.Var(&parsed[time.Duration]{value: &f.timeout, parse: parseDuration, kind: "duration"}, "timeout", "limit for each backend (default "+clichain.DefaultTimeout.String()+")")
	flags.Var(&parsed[time.Duration]{value: &f.budget, parse: parseDuration, kind: "duration"}, "budget", "limit for all of them together")
	flags.StringVar(&f.schema, "schema", "", "`file` with a JSON Schema for the answer")
	flags.StringVar(&f.dir, "dir", "", "`directory` to work in")
	flags.StringVar(&f.session, "session", "", "`id` of an earlier response's session, to go on")
	f.options.register(flags)
	flags.Var(&parsed[call.Billing]{value: &f.billing, parse: oneOf(call.BillingSubscription, call.BillingAPIKey), kind: "who"}, "billing", "only this may pay: subscription or api_key")
	flags.Var(&parsed[clichain.SandboxPolicy]{value: &f.sandbox, parse: oneOf(clichain.SandboxAuto, clichain.SandboxOn, clichain.SandboxOff), kind: "mode"}, "sandbox", "auto, on or off: skip what cannot work in a sandbox")
	flags.StringSliceVar(&f.passEnv, "pass-env", nil, "`name`s of more variables it may see, also FOO_*")
	flags.BoolVar(&f.noCooldown, "no-cooldown", false, "ask also what rests after a failure, and tell other calls nothing")
	addSpecFlag(flags, &f.specFiles)
	completeWith(cmd, "only", builtinNames())
	completeWith(cmd, "access", []string{"none", "read", "write", "full"})
}

func completeWith(cmd *cobra.Command, flag string, words []string) {
	// It fails for a flag that does not exist only.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// ask finds every mistake that can be found before it reads stdin or starts
// anything.
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
	req = clichain.Request{
		Model: f.model, Access: f.access, Dir: f.dir, Session: f.session,
	}
	if req.Options, err = f.options.options(); err != nil {
		return req, err
	}
	if f.system != "" {
		req.Messages = []clichain.Message{{Role: clichain.RoleSystem, Content: f.system}}
	}
	if f.schema != "" {
		req.Schema, err = readSchema(f.schema)
	}
	return req, err
}

func readSchema(file string) (json.RawMessage, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("--schema: %v", err)
	}
	if err := json.Unmarshal(data, new(any)); err != nil {
		return nil, usagef("--schema: %s is no JSON: %v", file, err)
	}
	return data, nil
}

func (a *app) providers(f *askFlags) ([]clichain.Backend, error) {
	timeout, err := a.timeout(f.timeout)
	if err != nil {
		return nil, err
	}
	all, err := a.loadSpecs(f.specFiles)
	if err != nil {
		return nil, err
	}
	chosen, err := a.inOrder(all, f.only)
	if err != nil {
		return nil, err
	}
	var backends []clichain.Backend
	for _, spec := range chosen {
		backends = append(backends, clichain.NewProvider(spec, &clichain.Config{Timeout: timeout, PassEnv: f.passEnv, Billing: f.billing, Sandbox: f.sandbox}))
	}
	return backends, nil
}

// nothingToTry is the chain's own error where no backend is available. It comes
// before stdin is read, which may take for ever, for nothing.
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
