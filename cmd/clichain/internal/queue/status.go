package queue

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
)

// statusFlags are the flags of status.
type statusFlags struct {
	queue      connection.QueueFlags
	json, once bool
	monitors   []*url.URL
}

const (
	// statusLimit limits one query of a queue, and statusEvery is the pause between two queries.
	statusLimit = 30 * time.Second
	statusEvery = time.Second
)

// newStatus makes the command status.
func newStatus(env *console.Env) *cobra.Command {
	f := &statusFlags{}
	f.queue.NATS, f.queue.MustExist = connection.NewNATSFlags(env), true
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the jobs, workers and warnings of a queue",
		Long: `Show the waiting, running and delayed jobs of a queue, the results and failures
by backend, the known cost, and the workers with their versions. The status also
has the jobs that no worker could take for ten minutes, and warnings about jobs
that could be lost.

On a terminal the output is updated every second until Ctrl-C. A queue in a
directory (--store) is shown once, because only one process at a time can use
it. To check that servers write jobs to disk before they acknowledge them, use
--nats-monitor, or an account that may query the system.`,
		Example: `  clichain queue status --nats nats://127.0.0.1:4222
  clichain queue status --json | jq .running
  clichain queue status --once --nats-monitor http://a:8222`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return showStatus(cmd.Context(), env, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.queue.Register(flags)
	flags.Func("nats-monitor", "monitoring `url` of a server, such as http://host:8222 (repeatable)",
		func(text string) error {
			u, err := connection.ParseMonitor(text)
			f.monitors = append(f.monitors, u)
			return err
		})
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.once, "once", false, "show the status once, even on a terminal")
	return cmd
}

func showStatus(ctx context.Context, env *console.Env, f *statusFlags) (err error) {
	q, err := f.queue.Open(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	var more []string
	if !f.queue.Embedded() {
		more = f.queue.NATS.SyncWarnings(ctx, q.Conn, f.monitors)
	}
	look := func(ctx context.Context) (*jetstream.Status, error) { return lookAt(ctx, q.Queue, more) }
	if redraws(env, f) {
		return follow(ctx, &screen{env.Screen(), env.StyleOf(env.Out)}, look)
	}
	s, err := look(ctx)
	if err != nil {
		return connection.Failed(err)
	}
	if f.json {
		return env.PrintJSON(s)
	}
	return env.Print(statusTable(s, env.StyleOf(env.Out), console.Columns(env.Out), time.Now()))
}

// redraws reports whether to update the output: on a terminal that supports it, if other processes can use the queue.
func redraws(env *console.Env, f *statusFlags) bool {
	return env.Redraws(env.Out) && !f.once && !f.json && !f.queue.Embedded()
}

// lookAt queries the status of the queue and adds warnings.
func lookAt(ctx context.Context, q *jetstream.Queue, more []string) (*jetstream.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	s, err := q.Status(ctx)
	if err == nil {
		s.Warnings = append(s.Warnings, more...)
	}
	return s, err
}

// follow updates the status until ctx ends, and then returns nil. After a failed query it shows the error below
// the last status.
func follow(ctx context.Context, on *screen, look func(context.Context) (*jetstream.Status, error)) error {
	var last *jetstream.Status
	for ctx.Err() == nil {
		s, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			last = s
		case last == nil:
			return connection.Failed(err)
		}
		if err := on.draw(last, err); err != nil {
			return err
		}
		pause := time.NewTimer(statusEvery)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
	return nil
}

// screen shows the status on a terminal.
type screen struct {
	*terminal.Screen
	style console.Style
}

// draw replaces the previous status.
func (s *screen) draw(status *jetstream.Status, failure error) error {
	return console.OutputError(s.Draw(func(width int) string {
		text := statusTable(status, s.style, width, time.Now())
		if failure != nil {
			text += "\n" + s.style.Red(terminal.Shorten("cannot read the queue: "+terminal.OneLine(failure.Error()),
				width)) + "\n"
		}
		return text
	}))
}
