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
	"github.com/clichain/clichain/cmd/clichain/internal/copies"
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

// batchFlags are the flags of batch. The defaults of its requests are in ask.
type batchFlags struct {
	cfg    batch.Config
	ask    param.Values
	nats   connection.NATSFlags
	dryRun bool
	remote bool // workers on a NATS server answer
	quiet  bool // show only errors

	permissions permit.Permissions
	repos       copies.Repos
	cache       answerCache
	collector   string
}

// NewBatch makes the command batch.
func NewBatch(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	f := &batchFlags{nats: connection.NewNATSFlags(env)}
	f.cfg.Jobs = service.DefaultSlots
	cmd := &cobra.Command{
		Use:   "batch",
		Short: "Answer a file of requests, and resume after a stop",
		Long: `Answer a file of requests: one JSON object per line in, one line per answer out.
The same command resumes an interrupted batch, and repeats no request that was
answered. Lines that cannot run go to OUT.bad.jsonl with their line numbers, and
the batch continues.

Pending requests are stored in OUT.queue until the batch finishes. With --nats,
or with --queue and NATS_URL, the workers of that queue answer.`,
		Example: `  clichain batch -i in.jsonl -o out.jsonl
  clichain batch -i in.jsonl -o out.jsonl --dry-run
  printf '{"prompt":"hi"}\n' | clichain batch -i - -o -`,
		Args: console.NoArgs,
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
	flags.Func("format", "input `format`: jsonl, json, csv, tsv, text or openai (default detected)",
		param.Into(&cfg.Format, param.OneOf(batch.Formats...)))
	flags.FuncP("jobs", "j", "`number`: limit of concurrent requests (default 4)", param.Into(&cfg.Jobs, param.Count))
	flags.Func("budget", "`duration`: limit of the whole batch (default none)", param.Into(&cfg.Budget, param.Duration))
	flags.Func("max-cost-usd", "`amount`: limit of the known cost of all answers in US dollars (default none)",
		param.Into(&cfg.MaxCostUSD, param.Dollars))
	flags.BoolVar(&f.dryRun, "dry-run", false, "print which backend would answer each line, and start nothing")
	flags.BoolVar(&cfg.RetryFailed, "retry-failed", false,
		"retry failed lines, except lines whose agent may have changed something")
	flags.BoolVar(&cfg.RetrySideEffects, "retry-side-effects", false, "with --retry-failed, also retry those lines")
	flags.BoolVar(&cfg.Ordered, "ordered", false, "write the answers in the order of the input")
	flags.BoolVar(&cfg.Changed, "changed", false, "run lines again whose content changed under the same id")
	flags.StringVar(&cfg.Bad, "bad", "", "`file` for lines that cannot run (default OUT.bad.jsonl, or stderr)")
	flags.StringVar(&cfg.Store, "store", "", "`directory` for pending requests (default OUT.queue)")
	flags.BoolVar(&cfg.Cold, "cold", false, "start a new CLI process for each request")
	f.cache.register(flags)
	service.AddTelemetryFlag(flags, &f.collector)
	flags.BoolVar(&f.quiet, "quiet", false, "print only errors on stderr")
	param.Add(flags, cmd.Name(), &f.ask)
	service.AddPermitFlag(flags, &f.permissions)
	f.repos.Register(flags)
	f.nats.Register(flags)
	f.nats.RegisterOwner(flags)
}

// ofWorkers are flags that have no effect if the workers of a NATS server answer.
var ofWorkers = []string{
	"jobs", "cold", "otlp", "only", "agent", "timeout", "trust-dir", "billing",
	"reserve", "confine", "read-path", "write-path", "sandbox", "pass-env",
	"redact-answers", "no-cooldown", "spec", "binary", "config", "profile", "repos", "check", "check-timeout", "carry",
	"assume-isolated", "cache", "cache-age", "cache-bytes",
}

// check rejects flags that would have no effect.
func (f *batchFlags) check(given func(flag string) bool) error {
	// NATS_URL alone selects a server only for commands that always need one.
	f.remote = f.nats.Servers != "" || given("queue") && f.nats.Given()
	for _, flag := range ofWorkers {
		if f.remote && given(flag) {
			return console.Usagef("--%s: has no effect with --nats or --queue; use it with clichain worker", flag)
		}
	}
	switch {
	case given("queue") && !f.remote:
		return console.Usagef("--queue: needs --nats or %s",
			connection.ServerVariable)
	case given("owner") && !f.remote:
		return console.Usagef("--owner: needs --nats, or --queue and %s", connection.ServerVariable)
	case f.permissions.Env != nil:
		return console.Usagef("--permit env: a line cannot set an environment variable")
	case f.cfg.RetrySideEffects && !f.cfg.RetryFailed:
		return console.Usagef("--retry-side-effects: needs --retry-failed")
	}
	return f.cache.check(given)
}

// runBatch validates the flags before it reads the input.
func runBatch(ctx context.Context, r *selection.Resolver, f *batchFlags) (err error) {
	if f.cfg.In == "-" && terminal.Is(r.In) {
		return console.Usagef("no input: use -i FILE, or write lines to stdin")
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
	if err := f.repos.Permit(&cfg.Permissions); err != nil {
		return err
	}
	if f.remote {
		cfg.Connect, cfg.Queue, cfg.Owner = f.nats.Connect, f.nats.QueueConfig(), f.nats.Owner()
	} else if err := batchBackends(ctx, r, f, &cfg); err != nil {
		return err
	}
	if f.dryRun {
		return batchPlan(ctx, r, &cfg)
	}
	t, err := telemetry.New(ctx, telemetry.Config{Collector: f.collector})
	if err != nil {
		return err
	}
	defer func() {
		if err := t.Close(); err != nil {
			fmt.Fprintln(r.Err, "clichain: warning: telemetry was lost:", terminal.OneLine(err.Error()))
		}
	}()
	if err := t.MeasureQuotas(cfg.Chain.Store); err != nil {
		return err
	}
	observe(&cfg, t)
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

// observe adds telemetry to a batch, around its cache.
func observe(cfg *batch.Config, t *telemetry.Exporter) {
	cached := cfg.Wrap
	cfg.Chain.Hooks = clichain.JoinHooks(cfg.Chain.Hooks, t.Hooks())
	cfg.Wrap = func(chain clichain.Backend) clichain.Backend { return t.Wrap(cached(chain)) }
	cfg.Worker = func(worker *jetstream.WorkConfig) { t.ObserveJobs(worker, "batch") }
}

// defaults returns the defaults of a line. A directory needs access, which the line may set.
func (f *batchFlags) defaults(ctx context.Context) (clichain.Request, error) {
	ask := f.ask
	dir := ask.Request.Dir
	if dir != "" && !f.remote { // a worker may have directories that this machine does not have
		if err := request.CheckDir(dir); err != nil {
			return clichain.Request{}, console.Usagef("--dir: %v", err)
		}
	}
	ask.Request.Dir = ""
	req, err := request.Of(&ask)
	if err == nil {
		err = request.CheckFields(ctx, req)
	}
	req.Dir = dir
	return req, err
}

// ceiling returns the permissions of a line: those of the defaults and of --permit. The input limits the size of a line
// separately.
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
	if f.ask.NoCooldown { // the cooldowns of this batch still apply, so that its lines wait for the end of a limit
		cfg.Chain.Store, cfg.Chain.NoCooldown = nil, false
	}
	if f.repos.Any() {
		if cfg.Workspace, err = f.repos.Config(); err != nil {
			return err
		}
	}
	if !f.dryRun {
		cfg.Wrap, err = f.cache.wrap(cfg.Backends)
	}
	return err
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
