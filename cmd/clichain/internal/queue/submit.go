package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/connection"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/request"
	"github.com/clichain/clichain/cmd/clichain/internal/telemetry"
	"github.com/clichain/clichain/jetstream"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// Priorities are the values of --priority.
var Priorities = []jetstream.Priority{jetstream.PriorityHigh, jetstream.PriorityNormal, jetstream.PriorityLow}

// submitFlags are the flags of submit.
type submitFlags struct {
	ask   param.Values // the flags about the request
	queue connection.QueueFlags
	job   jetstream.Job
	wait  waitFlags

	idGiven bool
}

// newSubmit makes the command submit.
func newSubmit(env *console.Env) *cobra.Command {
	f := &submitFlags{}
	f.queue.NATS = connection.NewNATSFlags(env)
	cmd := &cobra.Command{
		Use:   "submit [PROMPT]",
		Short: "Submit a request to a queue",
		Long: `Submit a request to a queue and print the id of the stored job. "clichain queue
result" prints the answer; --wait waits for it.

The prompt is composed as in "clichain ask". A job may run on another machine:
use absolute paths of that machine for directories and images; other files are
read here. A job with access write or full never runs twice, unless you set
--idempotent.`,
		Example: `  clichain queue submit --nats tls://nats.example.com:4222 "Explain errno 11"
  git diff | clichain queue submit --queue nightly --wait "Review this"
  clichain queue submit --id job-7 --priority low --deadline 8h "Review a.go"`,
		Args: console.AtMostOneArg("queue submit", "PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.idGiven = cmd.Flags().Changed("id")
			f.wait.on = f.wait.on || cmd.Flags().Changed("wait-for")
			return runSubmit(cmd.Context(), env, f, args)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *submitFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.queue.Register(flags)
	flags.StringVar(&f.job.ID, "id", "", "`id` of the job and its result (default random)")
	priority := param.OneOf(Priorities...)
	flags.Func("priority", "`level`: job priority: high, normal or low (default normal)",
		param.Into(&f.job.Priority, priority))
	f.queue.NATS.RegisterOwner(flags)
	flags.Func("deadline", "discard the job after this `time`, such as 2h or 2027-01-31T18:00:00Z (default none)",
		param.Into(&f.job.Deadline, parseDeadline))
	flags.BoolVar(&f.job.Idempotent, "idempotent", false, "allow the job to run twice, even if it may change something")
	flags.BoolVar(&f.wait.on, "wait", false, "wait for the result, and print it")
	f.wait.register(flags)
	param.Add(flags, cmd.Name(), &f.ask)
}

// runSubmit validates the flags before it connects or reads stdin.
func runSubmit(ctx context.Context, env *console.Env, f *submitFlags, args []string) (err error) {
	source, err := request.NewPromptSource(env, &f.ask, args)
	if err != nil {
		return err
	}
	if err := cmp.Or(f.queue.Check(), f.wait.check(&f.queue), f.request()); err != nil {
		return err
	}
	prompt, err := source.Read(ctx)
	if err != nil {
		return err
	}
	job := f.job
	job.Owner = f.queue.NATS.Owner()
	job.Trace = telemetry.OfEnvironment(env.Getenv)
	job.Request.Messages = append(job.Request.Messages, clichain.Message{Role: clichain.RoleUser, Content: prompt})
	if err := job.Validate(); err != nil {
		return console.Usagef("%s", console.Message(err))
	}
	q, err := f.queue.Open(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	if err := q.Submit(ctx, job); err != nil {
		return submitError(err, job.ID)
	}
	if f.wait.on {
		return awaitResult(ctx, env, q, &f.wait, job.ID)
	}
	return printID(env, job.ID, f.wait.json)
}

func printID(env *console.Env, id string, asJSON bool) error {
	if asJSON {
		return env.PrintJSON(map[string]string{"id": id})
	}
	_, err := fmt.Fprintln(env.Out, id)
	return console.OutputError(err)
}

func submitError(err error, id string) error {
	if errors.Is(err, jetstream.ErrExists) {
		return console.Usagef(
			"--id: the job %q is in the queue already, or has a result: use another id, or \"clichain queue result\"", id)
	}
	return connection.Failed(fmt.Errorf("job %q: %w", id, err))
}

// request makes the request of the job from the flags, without the prompt.
func (f *submitFlags) request() (err error) {
	if f.job.ID == "" && !f.idGiven {
		f.job.ID = uuid.NewString()
	}
	for flag, paths := range map[string][]string{
		"dir": {f.ask.Request.Dir}, "add-dir": f.ask.Request.Options.AddDirs, "image": f.ask.Request.Options.Images,
	} {
		for _, path := range paths {
			if path != "" && !filepath.IsAbs(path) {
				return console.Usagef("--%s: %s: give an absolute path: the job may run on another machine", flag, path)
			}
		}
	}
	f.job.Request, err = request.Of(&f.ask)
	return err
}

// parseDeadline parses a duration from now, or a time in RFC 3339.
func parseDeadline(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if d, no := time.ParseDuration(text); no == nil {
		at, err = time.Now().Add(d).UTC(), nil
	}
	if err != nil || !at.After(time.Now()) {
		return time.Time{}, errors.New("write a time from now, such as 2h, or one to come, such as 2027-01-31T18:00:00Z")
	}
	return at, nil
}
