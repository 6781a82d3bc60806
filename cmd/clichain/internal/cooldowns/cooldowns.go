// Package cooldowns opens the store of cooldowns and usage windows that flags and settings select: the file of this
// user, or the store of a fleet on NATS servers.
package cooldowns

import (
	"context"
	"errors"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/pflag"
)

// Flags select the store: of a fleet, or by default of this user.
type Flags struct {
	queue connection.QueueFlags
	fleet bool // the store is never that of this user
}

// Register declares the flags. noun is the content of the store in the help, such as "cooldowns".
func (f *Flags) Register(r *selection.Resolver, flags *pflag.FlagSet, noun string) {
	f.queue.NATS = connection.NewNATSFlags(r.Env)
	f.queue.NATS.RegisterServers(flags)
	f.queue.NATS.RegisterLogin(flags)
	flags.StringVar(&f.queue.Store, "store", "", "select the "+noun+" of the queue in this `directory`")
	flags.Lookup("nats").Usage =
		"select the " + noun + " of the workers on these NATS servers, `urls` separated by commas"
}

// RegisterFleet declares the flags for the store of a fleet, also by NATS_URL.
func (f *Flags) RegisterFleet(r *selection.Resolver, flags *pflag.FlagSet, noun string) {
	f.Register(r, flags, noun)
	f.fleet = true
	flags.Lookup("nats").Usage += " (" + connection.ServerVariable + ")"
}

// Embedded reports whether the store is in the directory of a queue, which only one process can use.
func (f *Flags) Embedded() bool { return f.queue.Embedded() }

// Given reports whether flags select the store of a fleet or a queue.
func (f *Flags) Given() bool { return f.fleet || f.queue.NATS.Servers != "" || f.queue.Embedded() }

// Store is a store whose content a command can list.
type Store interface {
	cooldown.QuotaStore
	States(ctx context.Context) (map[string]cooldown.State, error)
}

// Open opens the store. The store is nil if there is none; done is never nil.
func (f *Flags) Open(ctx context.Context, r *selection.Resolver) (there Store, done func() error, err error) {
	done = func() error { return nil }
	if !f.Given() {
		file, err := r.CooldownFile()
		if file != nil {
			there = file
		}
		return there, done, err
	}
	if err := f.queue.Check(); err != nil {
		return nil, done, err
	}
	q, err := f.queue.Connect(ctx, false)
	if err != nil {
		return nil, done, err
	}
	done = q.Close
	fleet, err := jetstream.OpenCooldowns(ctx, q.Conn, &jetstream.Config{MustExist: true})
	if errors.Is(err, jetstream.ErrNoCooldowns) {
		return nil, done, nil
	}
	if err != nil {
		return nil, done, connection.Failed(err)
	}
	done = func() error {
		fleet.Close()
		return q.Close()
	}
	return fleet, done, nil
}
