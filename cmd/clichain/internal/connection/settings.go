package connection

import (
	"errors"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/pflag"
)

// queueSettings are the settings with which a command opens a queue. Zero: those of the queue, or the defaults of a
// new one.
type queueSettings struct {
	ackWait  time.Duration
	replicas int
	// deliveries is not stored in the queue.
	deliveries int
	resultAge  time.Duration
	bytes      int64
}

// check returns an error that names the flag of a value that no queue can have.
func (s queueSettings) check() error {
	switch {
	case s.ackWait != 0 && s.ackWait < time.Second:
		return console.Usagef("--ack-wait: %v: use 1s or more", s.ackWait)
	case s.replicas < 0 || s.replicas > 5:
		return console.Usagef("--replicas: %d: use 1 to 5", s.replicas)
	case s.deliveries < 0:
		return console.Usagef("--max-deliveries: %d: use 1 or more", s.deliveries)
	case s.resultAge != 0 && s.resultAge < jetstream.MinResultAge:
		return console.Usagef("--max-result-age: %v: use %v or more", s.resultAge, jetstream.MinResultAge)
	case s.bytes != 0 && s.bytes < jetstream.MinResultBytes:
		return console.Usagef("--max-result-bytes: %d: use %d or more", s.bytes, jetstream.MinResultBytes)
	}
	return nil
}

// apply sets the fields of the Config.
func (s queueSettings) apply(cfg *jetstream.Config) {
	cfg.AckWait, cfg.Replicas, cfg.MaxDeliver = s.ackWait, s.replicas, s.deliveries
	cfg.MaxResultAge, cfg.MaxResultBytes = s.resultAge, s.bytes
}

// settingFlags are the flags of the fields that a queue keeps.
var settingFlags = map[string]string{"AckWait": "--ack-wait", "Replicas": "--replicas"}

// settingError returns a usage error for a queue that has another value than a flag.
func settingError(err error) error {
	if other, ok := errors.AsType[*jetstream.ConfigError](err); ok {
		return console.Usagef("%s: queue %q has %s, not %s: leave out the flag", settingFlags[other.Field], other.Queue,
			other.Has, other.Want)
	}
	return err
}

// RegisterSettings declares the flags that set up a queue. Call it once, after Register.
func (f *QueueFlags) RegisterSettings(flags *pflag.FlagSet) {
	s := &f.settings
	flags.DurationVar(&s.ackWait, "ack-wait", 0,
		"`time` after which another worker gets the job of a worker without a sign, for a new queue (default 30s)")
	flags.IntVar(&s.replicas, "replicas", 0,
		"`number` of servers that store each job, for a new queue (default 3, or 1 if there are fewer servers)")
	flags.IntVar(&s.deliveries, "max-deliveries", 0,
		"`number` of failed deliveries after which a job is a dead letter (default 5)")
	flags.DurationVar(&s.resultAge, "max-result-age", 0,
		"remove results after this `time`, for all clients of the queue (default as before)")
	flags.Int64Var(&s.bytes, "max-result-bytes", 0,
		"remove the oldest results above this `number` of bytes, for all clients (default as before)")
}
