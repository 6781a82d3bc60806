// Package connection connects commands to a queue: on NATS servers, or in a directory of this machine.
package connection

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
	"github.com/spf13/pflag"
)

// QueueFlags are the flags for the location of a queue: on a NATS server, or in a directory of this machine.
type QueueFlags struct {
	NATS  NATSFlags
	Store string
	// MustExist makes Open fail if the queue does not exist. A command that reads or changes a queue must not create
	// one for a mistyped name.
	MustExist bool

	settings queueSettings
}

// Register declares the flags. Call it once.
func (f *QueueFlags) Register(flags *pflag.FlagSet) {
	f.NATS.Register(flags)
	flags.StringVar(&f.Store, "store", "", "use the queue in this `directory`, without a NATS server")
}

// Embedded reports whether the queue is in a directory. The flag overrides the server in the environment.
func (f *QueueFlags) Embedded() bool { return f.Store != "" }

// Check validates the flags and opens nothing.
func (f *QueueFlags) Check() error {
	switch {
	case f.Store != "" && f.NATS.Servers != "":
		return console.Usagef("--store and --nats: use only one of them")
	case f.Store == "" && !f.NATS.Given():
		return console.Usagef("no queue: use --nats URL, %s or --store DIRECTORY", ServerVariable)
	}
	return f.settings.check()
}

// Queue is an open queue with its connection. It must be closed.
type Queue struct {
	*jetstream.Queue
	Conn   *nats.Conn
	server *jetstream.Server // nil: the queue is on a NATS server
}

// Open opens the queue. It creates the directory only if create is true.
func (f *QueueFlags) Open(ctx context.Context, create bool) (*Queue, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	q, err := f.Connect(ctx, create)
	if err != nil {
		return nil, err
	}
	cfg := f.NATS.QueueConfig()
	cfg.MustExist = f.MustExist
	f.settings.apply(cfg)
	if q.Queue, err = jetstream.Open(ctx, q.Conn, cfg); err != nil {
		return nil, errors.Join(openError(err), q.Close())
	}
	return q, nil
}

// openError returns a usage error for a missing queue.
func openError(err error) error {
	if missing, ok := errors.AsType[*jetstream.NoQueueError](err); ok {
		return console.Usagef("--queue: %s", strings.TrimPrefix(missing.Error(), "jetstream: "))
	}
	return Failed(settingError(err))
}

// Connect connects to the server of the queue without opening the queue.
func (f *QueueFlags) Connect(ctx context.Context, create bool) (*Queue, error) {
	q := &Queue{}
	if err := q.connect(ctx, f, create); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

func (q *Queue) connect(ctx context.Context, f *QueueFlags, create bool) (err error) {
	if !f.Embedded() {
		q.Conn, err = f.NATS.Connect(ctx)
		return err
	}
	if _, err := os.Stat(f.Store); errors.Is(err, fs.ErrNotExist) && !create {
		return console.Usagef("--store: %s: no such directory", f.Store)
	}
	if q.server, err = jetstream.Embed(f.Store); err != nil {
		return console.Usagef("--store: %v", err)
	}
	q.Conn, err = q.server.Connect()
	return Failed(err)
}

// Close closes the connection, and stops the embedded server.
func (q *Queue) Close() error {
	if q.Conn != nil {
		q.Conn.Close()
	}
	if q.server != nil {
		return Failed(q.server.Close())
	}
	return nil
}

// Failed adds exit code 1 to an error that has no exit code.
func Failed(err error) error {
	if _, known := errors.AsType[*console.ExitError](err); err == nil || known {
		return err
	}
	return console.Fail(console.ExitFailed, err)
}
