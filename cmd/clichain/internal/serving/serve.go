package serving

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	ask             param.Values // the part of it that is about backends
	listen          address
	tokenFile       string
	origins, ignore []string
	hold            bool
}

// NewServe makes the command serve.
func NewServe(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	f := &serveFlags{listen: address{"tcp", "127.0.0.1:8484"}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer OpenAI clients on this machine with its CLIs",
		Long: `Serve an endpoint for OpenAI clients, in any language, whose requests the CLIs
of this machine answer: /v1/chat/completions, /v1/responses and /v1/models.

It listens on this machine alone. Every request has to bring the token of the
token file, which is made at the first start; a web page may ask only from an
origin of --allow-origin. Requests are asked without access to anything: what
they want of tools, or of a setting that CLIs do not take, is refused by name.

The model is "clichain" or empty for the whole chain, the name of a backend, or
backend/model. Which backend answered is in the header Clichain-Backend, which
did not is in Clichain-Attempts.

The base URL goes to stdout, the log to stderr: it has ids, backends and reasons
in it; what is asked and answered never. Ctrl-C or SIGTERM ends it: what is on
its way may go on for the time of --grace.

Exit status: 0 stopped and drained; 1 the server failed; 2 a mistake in the
flags; 3 nothing to answer with.

Environment: that of "clichain ask".`,
		Example: `  clichain serve
  clichain serve --listen unix:/run/user/1000/clichain.sock
  clichain serve --only codex,claude --timeout 2m --ignore temperature`,
		Args: cobra.NoArgs,
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
	flags.Func("listen", "`address` on this machine alone: HOST:PORT or unix:PATH (default 127.0.0.1:8484)",
		param.Into(&f.listen, parseListen))
	flags.StringVar(&f.tokenFile, "token-file", "",
		"`file` with the token, made if missing (default clichain/serve-token in the user's configuration)")
	flags.StringArrayVar(&f.origins, "allow-origin", nil,
		"`origin` of a web page that may ask, such as http://localhost:3000")
	flags.Func("ignore", "let fields, such as `a,b`, have no effect instead of refusing them",
		param.Into(&f.ignore, parseIgnored))
	flags.BoolVar(&f.hold, "hold", false, "send streams when they are complete, so that another backend can take over")
	f.Flags.Register(flags, "answer", "answers")
	param.Add(flags, cmd.Name(), &f.ask)
	// Registering fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("ignore",
		cobra.FixedCompletions(openai.IgnorableFields(), cobra.ShellCompDirectiveNoFileComp))
}

// parseIgnored takes fields whose loss only whoever serves can accept.
func parseIgnored(text string) ([]string, error) {
	known := openai.IgnorableFields()
	names := strings.Split(text, ",")
	for i, name := range names {
		if names[i] = strings.TrimSpace(name); !slices.Contains(known, names[i]) {
			return nil, fmt.Errorf("%q is none of %s", names[i], strings.Join(known, ", "))
		}
	}
	return names, nil
}

// runServe finds every mistake that can be found before it listens or starts anything.
func runServe(ctx context.Context, r *selection.Resolver, f *serveFlags) (err error) {
	s, err := r.SelectAvailable(ctx, &f.ask)
	if err != nil {
		return err
	}
	token, err := serveToken(r, f)
	if err != nil {
		return err
	}
	t, err := telemetry.New(ctx, f.Collector)
	if err != nil {
		return err
	}
	log := service.NewLog(r.Env, f.LogJSON)
	defer func() {
		if err := t.Close(); err != nil {
			log.Warn("telemetry was lost", "error", err)
		}
	}()
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
	cfg.Name, cfg.NoCooldown, cfg.Hooks = "clichain", f.ask.NoCooldown, t.Hooks()
	backend := t.Wrap(clichain.ChainOf(backends, &cfg))
	server := newHTTPServer(openai.NewHandler(backend, &openai.Config{
		Token: token, Backends: names, AllowedOrigins: f.origins, IgnoredFields: f.ignore, Concurrency: f.Jobs,
		BufferStreams: f.hold, Logger: log, Trace: t.Continue, FieldNames: serveFieldNames,
	}), log)
	fmt.Fprintln(r.Out, f.listen.baseURL(listener.Addr()))
	return server.run(ctx, listener, f.Grace)
}

// serveFieldNames are the fields of openai.Config as serve names them.
var serveFieldNames = map[string]string{
	"Token":          "the token file of clichain serve",
	"AllowedOrigins": "clichain serve --allow-origin",
	"IgnoredFields":  "clichain serve --ignore",
	"Concurrency":    "clichain serve --jobs",
	"BufferStreams":  "clichain serve --hold",
}

// serveToken is the token of the file, whose place is told when it is made.
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

// baseURL is what a client needs to know. A socket has no place in it: http://localhost stands for the host there.
func (l address) baseURL(at net.Addr) string {
	if l.network == "unix" {
		return "http://localhost/v1"
	}
	return "http://" + at.String() + "/v1"
}
