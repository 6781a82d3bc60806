package connection

import (
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/pflag"
)

// resultLimits are the limits of the results of a queue. Zero: as they are.
type resultLimits struct {
	age   time.Duration
	bytes int64
}

// check returns an error that names the flag of a limit that no queue can have.
func (l resultLimits) check() error {
	switch {
	case l.age != 0 && l.age < jetstream.MinResultAge:
		return console.Usagef("--max-result-age: %v: use %v or more", l.age, jetstream.MinResultAge)
	case l.bytes != 0 && l.bytes < jetstream.MinResultBytes:
		return console.Usagef("--max-result-bytes: %d: use %d or more", l.bytes, jetstream.MinResultBytes)
	}
	return nil
}

// RegisterLimits declares the flags that change the limits of the results. Call it once, after Register.
func (f *QueueFlags) RegisterLimits(flags *pflag.FlagSet) {
	flags.DurationVar(&f.limits.age, "max-result-age", 0,
		"remove results after this `time`, for all clients of the queue (default as before)")
	flags.Int64Var(&f.limits.bytes, "max-result-bytes", 0,
		"remove the oldest results above this `number` of bytes, for all clients (default as before)")
}
