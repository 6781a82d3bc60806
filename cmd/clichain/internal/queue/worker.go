package queue

import (
	"cmp"
	"context"
	"errors"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/copies"
	"github.com/clichain/clichain/cmd/clichain/internal/loopback"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/service"
	"github.com/clichain/clichain/cmd/clichain/internal/telemetry"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/permit"
	"github.com/spf13/cobra"
)

// workerFlags are the flags of worker.
type workerFlags struct {
	service.Flags
	ask          param.Values // the flags about backends
	queue        connection.QueueFlags
	name, health string
	drain        bool
	permissions  permit.Permissions
	repos        copies.Repos
}

// NewWorker makes the command worker.
func NewWorker(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	f := &workerFlags{}
	f.queue.NATS = connection.NewNATSFlags(env)
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Answer the jobs of a queue",
		Long: `Take jobs from a queue and answer them with the CLIs of this machine, until
SIGINT or SIGTERM. Jobs in flight may then finish within --grace; the worker
returns the others to the queue and exits with 0.

By default a job is a question with access none; --max-access and --permit allow
more. A job that needs more returns to the queue for another worker. All workers
of a server share their cooldowns, and a worker takes no jobs while all of its
backends are in cooldown.`,
		Example: `  clichain worker --nats tls://nats.example.com:4222 --nats-creds worker.creds
  clichain worker --nats nats://127.0.0.1:4222 -j 8 --only codex,claude
  clichain worker --store out.jsonl.queue`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return service.UnlessStopped(cmd.Context(), runWorker(cmd.Context(), r, f))
		},
	}
	f.register(cmd)
	r.AddFlags(cmd.Flags())
	return cmd
}

func (f *workerFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.queue.Register(flags)
	f.queue.RegisterSettings(flags)
	f.Flags.Register(flags, "job", "jobs")
	flags.Func("max-access", "`level`: highest access of a job: none, read, write or full (default none)",
		param.Into(&f.permissions.Access, param.Access))
	service.AddPermitFlag(flags, &f.permissions)
	f.repos.Register(flags)
	flags.StringVar(&f.name, "name", "", "unique `name` of this worker (default host, process id and a random part)")
	flags.BoolVar(&f.drain, "drain", false, "exit when no job waits that this worker can take now")
	flags.Func("health", "serve /healthz and /status at this loopback `address`, such as 127.0.0.1:8080",
		param.Into(&f.health, loopback.Parse))
	param.Add(flags, cmd.Name(), &f.ask)
}

// runWorker validates the flags before it connects or starts a process.
func runWorker(ctx context.Context, r *selection.Resolver, f *workerFlags) (err error) {
	if err := f.queue.Check(); err != nil {
		return err
	}
	if err := f.repos.Permit(&f.permissions); err != nil {
		return err
	}
	f.ask.Config.RequestEnv = f.permissions.Env
	selected, err := r.SelectAvailable(ctx, &f.ask)
	if err != nil {
		return err
	}
	log := service.NewLog(r.Env, f.LogJSON)
	f.queue.NATS.Log = log
	q, err := f.queue.Open(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	w := newMonitor(ctx, f.name, f.Jobs, log, q.Conn.IsConnected)
	t, err := telemetry.New(ctx, f.Telemetry())
	if err != nil {
		return err
	}
	defer func() {
		if err := t.Close(); err != nil {
			w.log.Warn("telemetry was lost", "error", err)
		}
	}()
	stop, err := w.listen(ctx, f.health)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Failed(stop())) }()
	stopMetrics, err := f.ServeMetrics(ctx, w.log, t, w.probes())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Failed(stopMetrics())) }()
	return f.run(ctx, q, w, selected, t)
}

// run works until ctx ends and every job has ended or was returned.
func (f *workerFlags) run(
	ctx context.Context, q *connection.Queue, w *monitor, selected *selection.Selection, t *telemetry.Exporter,
) error {
	cooldowns, err := jetstream.OpenCooldowns(ctx, q.Conn, f.queue.NATS.QueueConfig())
	if err != nil {
		return connection.Failed(err)
	}
	defer cooldowns.Close()
	backends := selected.Backends()
	if !f.Cold {
		pool := live.NewPool(selected.Providers, &live.PoolConfig{Size: f.Jobs})
		defer pool.Close()
		backends = pool.Backends()
	}
	if f.repos.Any() {
		cfg, err := f.repos.Config()
		if err != nil {
			return err
		}
		backends = copies.Wrap(backends, cfg)
	}
	chainConfig := selected.Chain
	chainConfig.Store, chainConfig.Hooks = cooldowns, clichain.JoinHooks(chainConfig.Hooks, t.Hooks())
	chain := clichain.ChainOf(backends, &chainConfig)
	queue := cmp.Or(f.queue.NATS.Queue, "default")
	if err := errors.Join(t.MeasureQueue(queue, q.Queue), t.MeasureQuotas(cooldowns), t.MeasureChain(chain)); err != nil {
		return connection.Failed(err)
	}
	w.works(chain)
	drained := make(chan struct{})
	cancelReport := context.AfterFunc(ctx, func() {
		defer close(drained)
		w.log.Info("draining: no more jobs are taken", "grace", f.Grace, "running", w.status().Running)
	})
	w.log.Info("working", "worker", w.status().Name, "slots", f.Jobs)
	cfg := w.config(f.Grace)
	cfg.Drain = f.drain
	cfg.Permissions, cfg.Chain, cfg.Isolated = f.permissions, chain, f.repos.Any()
	t.ObserveJobs(cfg, queue)
	err = q.Work(ctx, t.Wrap(chain), cfg)
	if !cancelReport() {
		<-drained // an idle worker could end before it logs this
	}
	s := w.status()
	w.log.Info("stopped", "answered", s.Done, "failed", s.Failed, "parked", s.Parked)
	return connection.Failed(err)
}
