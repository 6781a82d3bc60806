package main

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

// queueFlags say where the queue is: on a NATS server, or in a folder of this machine.
type queueFlags struct {
	nats  natsFlags
	store string
	// mustExist has open make no queue: a command that only reads one, or changes what is in it, must not make another
	// one for a name that is mistyped.
	mustExist bool
}

func (f *queueFlags) register(flags *pflag.FlagSet) {
	f.nats.register(flags)
	flags.StringVar(&f.store, "store", "", "use the queue in this `folder`, without a NATS server")
}

// embedded reports whether the queue is in a folder. A flag outranks the environment's server.
func (f *queueFlags) embedded() bool { return f.store != "" }

// check finds what is wrong before anything is opened.
func (f *queueFlags) check() error {
	switch {
	case f.store != "" && f.nats.servers != "":
		return console.Usagef("--store and --nats: give one of them: a queue is in a folder or on a server")
	case f.store == "" && !f.nats.given():
		return console.Usagef("which queue? Give --nats URL (or set %s), or --store FOLDER", natsVariable)
	}
	return nil
}

// openQueue is a queue with all that was opened for it. It must be closed.
type openQueue struct {
	*jetstream.Queue
	nc     *nats.Conn
	server *jetstream.Server // nil: that of somebody else
}

// open opens the queue. One in a folder that is not there is made only when create says so.
func (f *queueFlags) open(ctx context.Context, create bool) (*openQueue, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	q := &openQueue{}
	if err := q.connect(ctx, f, create); err != nil {
		return nil, errors.Join(err, q.close())
	}
	cfg := f.nats.config()
	cfg.MustExist = f.mustExist
	var err error
	if q.Queue, err = jetstream.Open(ctx, q.nc, cfg); err != nil {
		return nil, errors.Join(openError(err), q.close())
	}
	return q, nil
}

// openError: a queue that has to be there, and is not, is a mistake in the command line.
func openError(err error) error {
	if missing, ok := errors.AsType[*jetstream.NoQueueError](err); ok {
		return console.Usagef("--queue: %s", strings.TrimPrefix(missing.Error(), "jetstream: "))
	}
	return queueError(err)
}

func (q *openQueue) connect(ctx context.Context, f *queueFlags, create bool) (err error) {
	if !f.embedded() {
		q.nc, err = f.nats.connect(ctx)
		return err
	}
	if _, err := os.Stat(f.store); errors.Is(err, fs.ErrNotExist) && !create {
		return console.Usagef("--store: %s: there is no such folder", f.store)
	}
	if q.server, err = jetstream.Embed(f.store); err != nil {
		return console.Usagef("--store: %v", err)
	}
	q.nc, err = q.server.Connect()
	return queueError(err)
}

// close ends the connection and the server. It returns what the server could not finish.
func (q *openQueue) close() (err error) {
	if q.nc != nil {
		q.nc.Close()
	}
	if q.server != nil {
		err = q.server.Close()
	}
	return err
}

// queueError gives an error of the queue its exit status: it is no mistake in the command line.
func queueError(err error) error {
	if _, known := errors.AsType[*console.ExitError](err); err == nil || known {
		return err
	}
	return console.Fail(console.ExitFailed, err)
}
