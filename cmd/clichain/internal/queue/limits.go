package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"
)

// limitsFlags are the flags of limits.
type limitsFlags struct {
	queue connection.QueueFlags
	set   string
	json  bool
}

func newLimits(env *console.Env) *cobra.Command {
	f := &limitsFlags{}
	f.queue.NATS, f.queue.MustExist = connection.NewNATSFlags(env), true
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show or set the limits of owners",
		Long: `Show the limits of the owners of jobs as YAML, or replace all of them with those
in a file. All workers and submitters of the queue use the new limits within a
second; running jobs continue. The file has the limits of named owners, and a
default for all others.`,
		Example: `  clichain queue limits --nats nats://127.0.0.1:4222 > limits.yaml
  clichain queue limits --set limits.yaml
  clichain queue limits --json | jq .owners`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runLimits(cmd.Context(), env, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.queue.Register(flags)
	flags.StringVar(&f.set, "set", "", "replace the limits with those in this YAML or JSON `file`; - is stdin")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func runLimits(ctx context.Context, env *console.Env, f *limitsFlags) (err error) {
	var limits *jetstream.Limits
	if f.set != "" {
		if limits, err = readLimits(env, f.set); err != nil {
			return console.Usagef("--set: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	q, err := f.queue.Open(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	if limits != nil {
		if err := q.SetLimits(ctx, limits); err != nil {
			return connection.Failed(err)
		}
	} else if limits, err = q.Limits(ctx); err != nil {
		return connection.Failed(err)
	}
	if f.json {
		return env.PrintJSON(limits)
	}
	return console.WriteYAML(env.Out, limits)
}

// maxLimitsFile bounds the size of a file in bytes.
const maxLimitsFile = 1 << 20

// readLimits reads limits from a file, or from stdin for "-".
func readLimits(env *console.Env, name string) (*jetstream.Limits, error) {
	in := env.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxLimitsFile+1))
	if err == nil && len(data) > maxLimitsFile {
		err = errors.New("the file is over 1 MiB")
	}
	if err != nil {
		return nil, err
	}
	return parseLimits(data)
}

// parseLimits reads limits strictly, because a misspelled limit would limit nothing. An empty file is an error, because
// it may be the remainder of a failed command.
func parseLimits(data []byte) (*jetstream.Limits, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the file is empty: write {} to remove all limits")
	}
	var document map[string]any
	if err := yaml.Load(data, &document); err != nil {
		return nil, err
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	limits := new(jetstream.Limits)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(limits); err != nil {
		return nil, err
	}
	return limits, limits.Validate()
}
