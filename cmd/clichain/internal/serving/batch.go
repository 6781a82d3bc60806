// Package serving has the commands batch and serve.
package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/cmd/clichain/internal/batchview"
	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/request"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/service"
	"github.com/clichain/clichain/cmd/clichain/internal/telemetry"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
	"github.com/spf13/cobra"
)

// batchFlags is what the command line says about a batch. What it says about each request is in ask.
type batchFlags struct {
	cfg    batch.Config
	ask    param.Values
	nats   connection.NATSFlags
	dryRun bool
	remote bool // the workers of a queue elsewhere answer
	quiet  bool // nothing is shown but errors

	permissions permit.Permissions
	collector   string
}

// NewBatch makes the command batch.
func NewBatch(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	f := &batchFlags{nats: connection.NewNATSFlags(env)}
	f.cfg.Jobs = service.DefaultSlots
	cmd := &cobra.Command{
		Use:   "batch",
		Short: "Answer a file of requests, and go on where it was interrupted",
		Long: `Answer a file of requests: one JSON object a line in, and one line out for each,
in the order in which they are done, or with --ordered in that of the input.
However it ends, the same command goes on from there, and asks nothing again
that was answered.

In:  {"prompt": "..."}, or "messages" instead, and where wanted "id", "system",
     "model", "schema", "access", "dir", "options", "metadata", "priority",
     "deadline", "idempotent". Other fields come back as metadata of the response.
     Tables (CSV, TSV) have these names in their first line. A JSON array, plain
     text (one prompt a line) and lines of OpenAI's batch API are read, too: the
     first line and the file name tell the format, or --format.
     Flags hold for lines that do not say it themselves. A line may not ask for
     more than --access, --dir and --allow-tool allow, and --permit, which
     "clichain worker --help" explains.
Out: {"id": ..., "response": {...}} or {"id": ..., "error": {...}}. A line
     without an id gets one from its content, so that lines may be inserted.

Lines that cannot be run go to OUT.bad.jsonl, with their numbers, and stop
nothing. What is on its way is kept in the folder OUT.queue until the end. With
--nats, or with --queue and NATS_URL, the workers of that queue answer
("clichain worker").

Environment: that of "clichain ask"; with --nats that of "clichain worker".

Exit status: 0 all answered; 1 some failed, or were bad, or the cost reached its
limit, or the output was lost; 2 a mistake in the flags, or an input that cannot
be read; 3 nothing to try; 124 out of time; 130 interrupted.`,
		Example: `  clichain batch -i in.jsonl -o out.jsonl
  clichain batch -i in.jsonl -o out.jsonl --dry-run
  printf '{"prompt":"hi"}\n' | clichain batch -i - -o -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return runBatch(cmd.Context(), r, f)
		},
	}
	f.register(cmd)
	r.AddFlags(cmd.Flags())
	return cmd
}

// register declares the flags in the order in which the help text lists them.
func (f *batchFlags) register(cmd *cobra.Command) {
	flags, cfg := cmd.Flags(), &f.cfg
	flags.SortFlags = false
	flags.StringVarP(&cfg.In, "in", "i", "-", "`file` with the requests, or - for stdin")
	flags.StringVarP(&cfg.Out, "out", "o", "-", "`file` for the answers, or - for stdout")
	flags.Func("format", "of the input, jsonl, json, csv, tsv, text or openai, as a `word` (default: guessed)",
		param.Into(&cfg.Format, param.OneOf(batch.Formats...)))
	flags.FuncP("jobs", "j", "how many run at once, a `number` (default 4)", param.Into(&cfg.Jobs, param.Count))
	flags.Func("budget", "limit for the whole batch, a `duration`", param.Into(&cfg.Budget, param.Duration))
	flags.Func("max-cost-usd", "limit for the known cost of all answers, in `usd`",
		param.Into(&cfg.MaxCostUSD, param.Dollars))
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would run where, and start nothing")
	flags.BoolVar(&cfg.RetryFailed, "retry-failed", false, "run again what failed, save where the agent may have acted")
	flags.BoolVar(&cfg.RetrySideEffects, "retry-side-effects", false, "with --retry-failed: that as well")
	flags.BoolVar(&cfg.Ordered, "ordered", false, "write the answers in the order of the input")
	flags.BoolVar(&cfg.Changed, "changed", false, "run again the lines that ask something else than before under their id")
	flags.StringVar(&cfg.Bad, "bad", "", "`file` for lines that cannot be run (default OUT.bad.jsonl, or stderr)")
	flags.StringVar(&cfg.Store, "store", "", "`folder` for what is on its way (default OUT.queue)")
	flags.BoolVar(&cfg.Cold, "cold", false, "start a new process for each answer, and keep none warm")
	service.AddTelemetryFlag(flags, &f.collector)
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on stderr but errors")
	param.Add(flags, cmd.Name(), &f.ask)
	service.AddPermitFlag(flags, &f.permissions)
	f.nats.Register(flags)
}

// ofWorkers are flags about backends, on which the workers of a queue elsewhere decide.
var ofWorkers = []string{
	"jobs", "cold", "otlp", "only", "agent", "timeout", "trust-dir", "billing", "sandbox", "pass-env",
	"redact-answers", "no-cooldown", "spec", "binary", "config", "profile",
}

// check finds flags that would have no effect.
func (f *batchFlags) check(given func(flag string) bool) error {
	// A server of the environment alone is for commands that cannot do without one.
	f.remote = f.nats.Servers != "" || given("queue") && f.nats.Given()
	for _, flag := range ofWorkers {
		if f.remote && given(flag) {
			return console.Usagef("--%s: has no effect with --nats or --queue: give it to the workers of the queue", flag)
		}
	}
	switch {
	case given("queue") && !f.remote:
		return console.Usagef("--queue: needs --nats or %s: a batch of its own has a queue of its own",
			connection.ServerVariable)
	case f.permissions.Env != nil:
		return console.Usagef("--permit env: no line can set a variable")
	case f.cfg.RetrySideEffects && !f.cfg.RetryFailed:
		return console.Usagef("--retry-side-effects: needs --retry-failed")
	}
	return nil
}

// runBatch finds every mistake that can be found before it reads anything.
func runBatch(ctx context.Context, r *selection.Resolver, f *batchFlags) (err error) {
	if f.cfg.In == "-" && terminal.Is(r.In) {
		return console.Usagef("no input: give -i FILE, or lines on stdin")
	}
	cfg := f.cfg
	cfg.Stdin, cfg.Stdout = r.In, r.Out
	view := batchview.New(batchview.Config{
		In: cfg.In, Out: cfg.Out, To: r.Err, Quiet: f.quiet, Width: func() int { return console.Columns(r.Err) },
		Live: r.Redraws(r.Err) && (cfg.Out != "-" || !terminal.Is(r.Out)),
	})
	cfg.Progress, cfg.Notice, cfg.OnBadLine = view.Progress, view.Notice, view.BadLine
	cfg.AdviceText = console.AdviceText
	if err := cfg.Check(); err != nil {
		return batchError(err)
	}
	if cfg.Defaults, err = f.defaults(ctx); err != nil {
		return err
	}
	cfg.Permissions = f.ceiling(cfg.Defaults)
	if f.remote {
		cfg.Connect, cfg.Queue = f.nats.Connect, f.nats.QueueConfig()
	} else if err := batchBackends(ctx, r, f, &cfg); err != nil {
		return err
	}
	if f.dryRun {
		return batchPlan(ctx, r, &cfg)
	}
	t, err := telemetry.New(ctx, f.collector)
	if err != nil {
		return err
	}
	defer func() {
		if err := t.Close(); err != nil {
			fmt.Fprintln(r.Err, "clichain: warning: telemetry was lost:", terminal.OneLine(err.Error()))
		}
	}()
	cfg.Chain.Hooks, cfg.Wrap = t.Hooks(), t.Wrap
	cfg.Worker = func(worker *jetstream.WorkConfig) { t.ObserveJobs(worker, "batch") }
	trace, end := t.StartBatch(ctx, telemetry.OfEnvironment(r.Getenv))
	cfg.Trace = trace
	s, err := batch.Run(ctx, &cfg)
	end(batchReason(s, err))
	if s != nil {
		view.End(&s.Counts)
	}
	if err != nil {
		return batchError(err)
	}
	for _, stray := range s.Strays {
		fmt.Fprintln(r.Err, "clichain: warning: something may be left of", terminal.OneLine(stray))
	}
	return batchStatus(r.Env, &cfg, s)
}

// defaults are those of a line. A folder needs access, which the line may bring.
func (f *batchFlags) defaults(ctx context.Context) (clichain.Request, error) {
	ask := f.ask
	dir := ask.Request.Dir
	ask.Request.Dir = ""
	req, err := request.Of(&ask)
	if err == nil {
		err = request.CheckFields(ctx, req)
	}
	req.Dir = dir
	return req, err
}

// ceiling is the most that a line may ask for: what the defaults have, and what is permitted besides. The input has a
// bound of its own for the size of a line.
func (f *batchFlags) ceiling(defaults clichain.Request) permit.Permissions {
	p := f.permissions
	p.Access, p.MaxBytes = defaults.Access, cmp.Or(p.MaxBytes, -1)
	p.Tools = slices.Concat(defaults.Options.AllowedTools, p.Tools)
	if p.Access > clichain.AccessNone || defaults.Dir != "" {
		p.Dirs = append([]string{cmp.Or(defaults.Dir, ".")}, p.Dirs...)
	}
	return p
}

// batchBackends makes the backends that answer in this process.
func batchBackends(ctx context.Context, r *selection.Resolver, f *batchFlags, cfg *batch.Config) error {
	backends, err := r.SelectAvailable(ctx, &f.ask)
	if err != nil {
		return err
	}
	cfg.Backends, cfg.Chain = backends.Backends(), backends.Chain
	return nil
}

func batchPlan(ctx context.Context, r *selection.Resolver, cfg *batch.Config) error {
	plan, err := batch.DryRun(ctx, cfg)
	if err != nil {
		return batchError(err)
	}
	if err := batchview.PrintPlan(r.Out, plan); err != nil {
		return console.OutputError(err)
	}
	switch err := batchview.PlanError(plan); {
	case errors.Is(err, batchview.ErrNoBackend):
		return console.Fail(console.ExitNothing, err)
	case err != nil:
		return console.Fail(console.ExitFailed, err)
	}
	return nil
}
