package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/service"
	"github.com/clichain/clichain/cmd/clichain/internal/telemetry"
	"github.com/clichain/clichain/cmd/clichain/internal/tokenfile"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/openai"
	"github.com/spf13/cobra"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	service.Flags
	ask          param.Values // the flags about backends
	listen       address
	tokenFile    string
	origins      []string
	aliases      map[string]string
	defaultModel string
	maxWaiting   int
	strict, hold bool
}

// NewServe makes the command serve.
func NewServe(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	f := &serveFlags{listen: address{"tcp", "127.0.0.1:8484"}, aliases: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer OpenAI clients on this machine",
		Long: `Serve /v1/chat/completions, /v1/responses and /v1/models on this machine only,
and answer requests with its CLIs. Each request needs the token in the token
file, which the first start creates. Requests run with access none, and a
request for tools is rejected. Settings of a model, such as temperature, are
ignored and reported. The base URL goes to stdout and the log, which has no
prompts and no answers, to stderr.`,
		Example: `  clichain serve
  clichain serve --listen unix:/run/user/1000/clichain.sock
  clichain serve --only codex,claude --timeout 2m --strict`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return service.UnlessStopped(cmd.Context(), runServe(cmd.Context(), r, f))
		},
	}
	f.register(cmd)
	r.AddFlags(cmd.Flags())
	return cmd
}

func (f *serveFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Func("listen", "`address` on this machine, HOST:PORT or unix:PATH (default 127.0.0.1:8484)",
		param.Into(&f.listen, parseListen))
	flags.StringVar(&f.tokenFile, "token-file", "",
		"`file` with the token, created if missing (default clichain/serve-token in the configuration directory)")
	flags.StringArrayVar(&f.origins, "allow-origin", nil,
		"allow requests from web pages of this `origin`, such as http://localhost:3000 (repeatable)")
	flags.Func("model-alias", "use another model for requests with this one: `name=model`, such as\n"+
		"gpt-4o=claude/sonnet (repeatable)", f.addAlias)
	flags.StringVar(&f.defaultModel, "default-model", "",
		"`model` for requests with a name that no CLI lists (default none: they fail)")
	flags.Func("max-waiting", "`number` of requests that wait while --jobs are answered (default 64)",
		param.Into(&f.maxWaiting, parseMaxWaiting))
	flags.BoolVar(&f.strict, "strict", false,
		"reject request fields that CLIs do not support, such as temperature, instead of ignoring them")
	flags.BoolVar(&f.hold, "hold", false,
		"send a stream when it is complete, so that another backend can replace a failed one")
	f.Flags.Register(flags, "request", "requests")
	param.Add(flags, cmd.Name(), &f.ask)
}

// runServe validates the flags before it listens or starts a process.
func runServe(ctx context.Context, r *selection.Resolver, f *serveFlags) (err error) {
	s, err := r.SelectAvailable(ctx, &f.ask)
	if err != nil {
		return err
	}
	token, err := serveToken(r, f)
	if err != nil {
		return err
	}
	t, err := telemetry.New(ctx, f.Telemetry())
	if err != nil {
		return err
	}
	log := service.NewLog(r.Env, f.LogJSON)
	defer func() {
		if err := t.Close(); err != nil {
			log.Warn("telemetry was lost", "error", err)
		}
	}()
	if err := t.MeasureQuotas(s.Chain.Store); err != nil {
		return err
	}
	listener, err := f.listen.open(ctx)
	if err != nil {
		return err
	}
	backends := s.Backends()
	names := namesOfBackends(backends)
	if !f.Cold {
		pool := live.NewPool(s.Providers, &live.PoolConfig{Size: f.Jobs})
		defer closePool(pool, log)
		backends = pool.Backends()
	}
	cfg := s.Chain
	cfg.Name, cfg.Hooks = "clichain", clichain.JoinHooks(cfg.Hooks, t.Hooks())
	chain := clichain.ChainOf(backends, &cfg)
	if err := t.MeasureChain(chain); err != nil {
		return err
	}
	stopMetrics, err := f.ServeMetrics(ctx, log, t, probesOf(ctx, chain))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, stopMetrics()) }()
	backend := t.Wrap(chain)
	server := newHTTPServer(openai.NewHandler(backend, &openai.Config{
		Token: token, Backends: names, AllowedOrigins: f.origins, Strict: f.strict, Concurrency: f.Jobs,
		MaxWaiting: f.maxWaiting, ModelAliases: f.aliases, DefaultModel: f.defaultModel,
		ListModels:    func(ctx context.Context) []string { return listedModels(ctx, s.Providers, log) },
		BufferStreams: f.hold, Logger: log, Trace: t.Continue, FieldNames: serveFieldNames,
	}), log)
	fmt.Fprintln(r.Out, f.listen.baseURL(listener.Addr()))
	return server.run(ctx, listener, f.Grace)
}

// serveFieldNames maps the fields of openai.Config to flags of serve.
var serveFieldNames = map[string]string{
	"Token":          "the token file of clichain serve",
	"AllowedOrigins": "clichain serve --allow-origin",
	"Strict":         "clichain serve --strict",
	"ModelAliases":   "clichain serve --model-alias",
	"MaxWaiting":     "clichain serve --max-waiting",
	"Concurrency":    "clichain serve --jobs",
	"BufferStreams":  "clichain serve --hold",
}

// serveToken returns the token of the token file. It prints the path of a new file.
func serveToken(r *selection.Resolver, f *serveFlags) (string, error) {
	if f.tokenFile == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return "", console.Usagef("--token-file: %v: name a file", err)
		}
		f.tokenFile = filepath.Join(dir, "clichain", "serve-token")
	}
	token, made, err := tokenfile.Read(f.tokenFile)
	if err != nil {
		return "", console.Usagef("--token-file: %v", err)
	}
	if made {
		fmt.Fprintln(r.Err, "clichain: a new token is in", f.tokenFile)
	}
	return token, nil
}

func namesOfBackends(backends []clichain.Backend) (names []string) {
	for _, b := range backends {
		names = append(names, b.Name())
	}
	return names
}

func closePool(pool *live.Pool, log *slog.Logger) {
	for _, stray := range pool.Close().Left {
		log.Warn("something may be left", "of", stray)
	}
}

// baseURL returns the base URL for clients. For a socket the host is localhost.
func (l address) baseURL(at net.Addr) string {
	if l.network == "unix" {
		return "http://localhost/v1"
	}
	return "http://" + at.String() + "/v1"
}
