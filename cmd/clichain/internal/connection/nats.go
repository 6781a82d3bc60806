package connection

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/loopback"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
	"github.com/spf13/pflag"
)

// NATSFlags are the flags for NATS servers and the login there. Each flag has an environment variable as its default.
// User and password are in the URL or in the environment. The zero value has no server.
type NATSFlags struct {
	Queue string // name of the queue; "": the default

	Servers, creds, nkey, authorityFile, cert, key, owner string

	env func(string) string // nil: os.Getenv
	Log *slog.Logger        // of the connection; nil: warnings go to stderr
}

const (
	// ServerVariable is the environment variable for --nats.
	ServerVariable = "NATS_URL"
	// connectLimit bounds the attempt to connect to one server.
	connectLimit = 5 * time.Second
)

// NewNATSFlags makes the flags of a command, with its environment and warnings on its stderr.
func NewNATSFlags(env *console.Env) NATSFlags {
	log := slog.New(slog.NewTextHandler(env.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return NATSFlags{env: env.Getenv, Log: log}
}

// Register declares the flags. Call it once.
func (f *NATSFlags) Register(flags *pflag.FlagSet) {
	f.RegisterServers(flags)
	flags.StringVar(&f.Queue, "queue", "", "`name` of the queue (default \"default\")")
	f.RegisterLogin(flags)
}

// RegisterServers declares the flag for the servers.
func (f *NATSFlags) RegisterServers(flags *pflag.FlagSet) {
	flags.StringVar(&f.Servers, "nats", "", "NATS servers, `urls` separated by commas, such as tls://host:4222 (NATS_URL)")
}

// RegisterLogin declares the flags for the login.
func (f *NATSFlags) RegisterLogin(flags *pflag.FlagSet) {
	flags.StringVar(&f.creds, "nats-creds", "", "`file` with the credentials for NATS (NATS_CREDS)")
	flags.StringVar(&f.nkey, "nats-nkey", "", "`file` with the seed of an NKey for NATS (NATS_NKEY)")
	flags.StringVar(&f.authorityFile, "nats-ca", "",
		"`file` with the CA certificates of NATS servers (NATS_CA)")
	flags.StringVar(&f.cert, "nats-cert", "", "`file` with the client certificate for NATS (NATS_CERT)")
	flags.StringVar(&f.key, "nats-key", "", "`file` with the private key of the client certificate (NATS_KEY)")
}

// Given reports whether --nats or its environment variable names a server.
func (f *NATSFlags) Given() bool { return f.setting("nats", f.Servers).value != "" }

// QueueConfig names the queue.
func (f *NATSFlags) QueueConfig() *jetstream.Config { return &jetstream.Config{Name: f.Queue} }

// setting is a value with the flag or the environment variable that sets it.
type setting struct{ value, source string }

// setting returns the value of the flag, or else of its environment variable.
func (f *NATSFlags) setting(flag, value string) setting {
	if value != "" {
		return setting{value, "--" + flag}
	}
	variable := strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	if flag == "nats" {
		variable = ServerVariable
	}
	return setting{f.getenv(variable), variable}
}

func (f *NATSFlags) getenv(name string) string {
	if f.env == nil {
		return os.Getenv(name)
	}
	return f.env(name)
}

func (f *NATSFlags) logger() *slog.Logger {
	if f.Log != nil {
		return f.Log
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// Connect connects to the servers, or returns an error with a hint within seconds. After a failure the connection
// reconnects without a limit. The caller closes it.
func (f *NATSFlags) Connect(ctx context.Context) (*nats.Conn, error) {
	servers, err := f.parseServers()
	if err != nil {
		return nil, err
	}
	options, err := f.options(servers)
	if err != nil {
		return nil, err
	}
	nc, err := dial(ctx, options)
	if err != nil {
		return nil, f.explain(err, servers)
	}
	f.warnOfPlainText(nc)
	return nc, nil
}

// dial connects. If ctx ends first, dial returns its error and closes a later connection.
func dial(ctx context.Context, options nats.Options) (*nats.Conn, error) {
	type result struct {
		nc  *nats.Conn
		err error
	}
	done := make(chan result, 1)
	go func() {
		nc, err := options.Connect()
		done <- result{nc, err}
	}()
	select {
	case r := <-done:
		return r.nc, r.err
	case <-ctx.Done():
		go func() { // it ends within the limits of options.Connect
			if r := <-done; r.nc != nil {
				r.nc.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// parseServers parses the URLs. Its errors do not quote a URL that may have a password.
func (f *NATSFlags) parseServers() (servers []*url.URL, err error) {
	given := f.setting("nats", f.Servers)
	if given.value == "" {
		return nil, console.Usagef("--nats: which server? Give its URL, such as nats://127.0.0.1:4222, or set %s",
			ServerVariable)
	}
	for i, text := range strings.Split(given.value, ",") {
		text = strings.TrimSpace(text)
		if !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			return nil, console.Usagef("%s: server %d of the list is no URL: write nats://host:4222 or tls://host:4222, "+
				"with %%-signs for special characters in a password", given.source, i+1)
		}
		if !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return nil, console.Usagef("%s: %s: the scheme is not one of nats, tls, ws and wss", given.source, bareURL(u))
		}
		servers = append(servers, u)
	}
	return servers, nil
}

// bareURL returns a URL without user, password, token, path and query.
func bareURL(u *url.URL) string { return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() }

func (f *NATSFlags) options(servers []*url.URL) (nats.Options, error) {
	o := nats.GetDefaultOptions()
	o.Name, o.Timeout = "clichain", connectLimit
	o.MaxReconnect = -1
	o.IgnoreAuthErrorAbort = true // each attempt reads the files again, which may have new credentials
	for _, u := range servers {
		o.Servers = append(o.Servers, u.String())
	}
	o.User, o.Password = f.getenv("NATS_USER"), f.getenv("NATS_PASSWORD")
	f.watch(&o)
	return o, f.addFiles(&o)
}

// watch logs the events of the connection.
func (f *NATSFlags) watch(o *nats.Options) {
	log := f.logger()
	o.DisconnectedErrCB = func(_ *nats.Conn, err error) {
		if err != nil { // nil: the command closed it
			log.Warn("NATS: the connection broke, and is made again", "error", err)
		}
	}
	o.ReconnectedCB = func(nc *nats.Conn) { log.Warn("NATS: connected again", "server", nc.ConnectedServerName()) }
	o.AsyncErrorCB = func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if !strings.Contains(err.Error(), systemSubject) { // its caller reports a rejected request
			log.Warn("NATS: an error", "error", err)
		}
	}
}

// explain adds a hint to the error of the first connection.
func (f *NATSFlags) explain(err error, servers []*url.URL) error {
	var names []string
	for _, u := range servers {
		names = append(names, bareURL(u))
	}
	where := strings.Join(names, ", ")
	var unknown *tls.CertificateVerificationError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return console.Usagef(
			"NATS at %s refuses the login: check --nats-creds, --nats-nkey, or user and password in the URL "+
				"or in NATS_USER and NATS_PASSWORD", where)
	case errors.As(err, &unknown):
		return console.Usagef("NATS at %s: %v: give the servers' authority as --nats-ca", where, unknown.Err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return console.Usagef(
			"NATS at %s offers no TLS: turn it on there, or use nats:// without --nats-ca and --nats-cert", where)
	}
	err = fmt.Errorf("cannot connect to NATS at %s: %w: is the server running, and is --nats right?", where, err)
	return console.Fail(console.ExitFailed, err)
}

// warnOfPlainText warns about a connection without encryption, because it transfers prompts and answers.
func (f *NATSFlags) warnOfPlainText(nc *nats.Conn) {
	if _, err := nc.TLSConnectionState(); err == nil {
		return
	}
	if host := loopback.HostOf(nc.ConnectedAddr()); !loopback.Is(host) {
		f.logger().Warn("NATS: the connection is not encrypted; use tls:// to protect prompts and answers",
			"server", host)
	}
}
