package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/cobra"
	"golang.org/x/term"
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

// NewStatus makes the command status.
func NewStatus(env *console.Env) *cobra.Command {
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
		Example: `  clichain status --nats nats://127.0.0.1:4222
  clichain status --json | jq .running
  clichain status --once --nats-monitor http://a:8222`,
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
		return follow(ctx, &screen{out: env.Out, style: env.StyleOf(env.Out), size: sizeOf(env.Out)}, look)
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
	return terminal.Is(env.Out) && env.Getenv("TERM") != "dumb" && !f.once && !f.json && !f.queue.Embedded()
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

// screen is a terminal on which each drawing replaces the previous one.
type screen struct {
	out   io.Writer
	style console.Style
	size  func() (width, height int)
	lines int // lines of the last drawing
}

// draw writes at most as many lines as the terminal has, because the cursor cannot move back further.
func (s *screen) draw(status *jetstream.Status, failure error) error {
	width, height := s.size()
	text := statusTable(status, s.style, width, time.Now())
	if failure != nil {
		text += "\n" + s.style.Red(terminal.Shorten("cannot read the queue: "+terminal.OneLine(failure.Error()),
			width)) + "\n"
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if most := max(height-1, 2); len(lines) > most {
		lines = append(lines[:most-1], fmt.Sprintf("… %d more lines", len(lines)-most+1))
	}
	back := "\r"
	if s.lines > 0 {
		back = fmt.Sprintf("\x1b[%dF", s.lines)
	}
	s.lines = len(lines)
	_, err := io.WriteString(s.out, back+"\x1b[J"+strings.Join(lines, "")+"\n")
	return console.OutputError(err)
}

// sizeOf returns a function for the current columns and lines of a terminal.
func sizeOf(out io.Writer) func() (int, int) {
	return func() (int, int) {
		height := 24
		if f, ok := out.(*os.File); ok {
			if _, h, err := term.GetSize(int(f.Fd())); err == nil && h > 0 {
				height = h
			}
		}
		return console.Columns(out), height
	}
}
