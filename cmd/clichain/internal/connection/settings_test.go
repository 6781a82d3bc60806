package connection

import (
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// The flags set up a queue. An existing queue takes only the limits of the results from them.
func TestQueueSettings(t *testing.T) {
	store := t.TempDir()
	for _, test := range []struct {
		name, bytes string
		args        []string
		age         time.Duration
		problem     string
	}{
		{name: "new queue", age: 30 * 24 * time.Hour},
		{name: "both", args: []string{"--max-result-age", "2h", "--max-result-bytes", "9000000"}, age: 2 * time.Hour, bytes: "9000000"},
		{name: "none", age: 2 * time.Hour, bytes: "9000000"},
		{name: "other time", args: []string{"--ack-wait", "7s"},
			problem: `--ack-wait: queue "default" has 30s, not 7s: leave out the flag`},
		{name: "more servers", args: []string{"--replicas", "3"},
			problem: "replicas > 1 not supported in non-clustered mode"},
		{name: "no time", args: []string{"--ack-wait", "1ms"}, problem: "--ack-wait: 1ms: use 1s or more"},
		{name: "many servers", args: []string{"--replicas", "6"}, problem: "--replicas: 6: use 1 to 5"},
		{name: "no deliveries", args: []string{"--max-deliveries", "-1"}, problem: "--max-deliveries: -1: use 1 or more"},
		{name: "short", args: []string{"--max-result-age", "1m"}, problem: "--max-result-age: 1m0s: use 1h0m0s or more"},
		{name: "small", args: []string{"--max-result-bytes", "9"}, problem: "--max-result-bytes: 9: use 1048576 or more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := QueueFlags{NATS: NewNATSFlags(&console.Env{Getenv: func(string) string { return "" }})}
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			f.Register(flags)
			f.RegisterSettings(flags)
			require.NoError(t, flags.Parse(append(test.args, "--store", store)))
			q, err := f.Open(t.Context(), true)
			if test.problem != "" {
				require.ErrorContains(t, err, test.problem)
				return
			}
			require.NoError(t, err)
			defer func() { require.NoError(t, q.Close()) }()
			server, err := js.New(q.Conn)
			require.NoError(t, err)
			results, err := server.Stream(t.Context(), "clichain_default_results")
			require.NoError(t, err)
			cfg := results.CachedInfo().Config
			require.Equal(t, test.age, cfg.MaxAge)
			if test.bytes != "" {
				require.Equal(t, test.bytes, cfg.Metadata["clichain_result_bytes"])
			}
		})
	}
}
