package connection

import (
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// The flags change the limits of the results. Without them, a queue keeps its limits.
func TestResultLimits(t *testing.T) {
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
		{name: "short", args: []string{"--max-result-age", "1m"}, problem: "--max-result-age: 1m0s: use 1h0m0s or more"},
		{name: "small", args: []string{"--max-result-bytes", "9"}, problem: "--max-result-bytes: 9: use 1048576 or more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := QueueFlags{NATS: NewNATSFlags(&console.Env{Getenv: func(string) string { return "" }})}
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			f.Register(flags)
			f.RegisterLimits(flags)
			require.NoError(t, flags.Parse(append(test.args, "--store", store)))
			q, err := f.Open(t.Context(), true)
			if test.problem != "" {
				require.EqualError(t, err, test.problem)
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
