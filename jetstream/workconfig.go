package jetstream

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/permit"
	"github.com/nats-io/nuid"
)

// WorkConfig configures a worker. The zero value works. The funcs may be nil. Several goroutines call them at once,
// and each call delays its job.
type WorkConfig struct {
	// Slots is how many jobs run at the same time. Zero: 1.
	Slots int
	// Name is the worker's name in Status and History. Each worker of a queue needs another name. Empty: host,
	// process ID and a random part.
	Name string
	// Permissions limit the jobs: every client with write access to the queue can submit jobs. The worker leaves a
	// job that needs more to another worker. The zero value allows questions with AccessNone.
	Permissions permit.Permissions
	// Chain reports which jobs the worker can run. Set it if the backend of Work wraps a chain. Nil: the backend of
	// Work, if it is a Chain. Any other backend fails a job that it cannot run only during the call.
	Chain *clichain.Chain
	// Isolated says that the backend works in private copies, as those of package workspace do: a job with AccessWrite
	// changes nothing, and its result has the changes as a patch. So it runs again after its worker died. An agent that
	// nothing confines may act outside its copy twice: ConfineRequired refuses such an agent. Jobs that have
	// Options.MCPConfig are excepted. Set it for all workers of a queue that permit AccessWrite, or for none.
	Isolated bool
	// Alone says that there is no other worker: a job that this one cannot run fails. False: the job returns to the
	// queue.
	Alone bool
	// Drain makes Work return nil when no job waits that this worker can take now, and its own jobs have ended. Jobs that
	// wait for a time, for the end of a cooldown or of a pause, or for another worker do not count. False: Work continues
	// until its ctx ends.
	Drain bool
	// Grace is how long jobs may continue after ctx has ended. Then the worker cancels them and returns them to the
	// queue. Zero: at once.
	Grace time.Duration
	// KeepDir is a directory on this machine for results that the server does not accept, for example because its
	// store is full. This worker, or the next one with the same directory, stores them when the server accepts them.
	// The worker creates it with the permissions 0700 when it needs it. Empty: clichain/results in the user's state
	// directory ($XDG_STATE_HOME, ~/.local/state).
	KeepDir string
	// Logger gets failures after which the worker continues, such as a lost connection. It never gets prompts or
	// answers. Nil: no log.
	Logger *slog.Logger
	// Context returns the context in which a job runs, for example with its Trace. Nil: the context of the worker.
	Context func(ctx context.Context, job *Job) context.Context
	// The worker calls OnStart when a job starts, OnPark when it returns to the queue, and OnResult when its result
	// is stored.
	OnStart  func(job *Job)
	OnPark   func(job *Job, d Delivery)
	OnResult func(r *Result)
	// OnEnd is called after OnStart when the job has left this worker, for any reason.
	OnEnd func(job *Job)
	// OnRest is called when no backend can answer before until, so that the worker takes no jobs, and again when that
	// time changes.
	OnRest func(until time.Time)
	// OnPause is called when the queue is paused, again when another pause replaces the first, and with nil when it is
	// resumed. A pause of one owner is not reported.
	OnPause func(p *Pause)
}

func (c *WorkConfig) withDefaults() (WorkConfig, error) {
	var out WorkConfig
	if c != nil {
		out = *c
	}
	if out.Slots < 0 || out.Grace < 0 {
		return out, fmt.Errorf("jetstream: Slots %d, Grace %v: neither may be negative", out.Slots, out.Grace)
	}
	out.Slots = cmp.Or(out.Slots, 1)
	if out.Name == "" {
		host, _ := os.Hostname()
		out.Name = fmt.Sprintf("%s-%d-%s", cmp.Or(host, "host"), os.Getpid(), nuid.Next()[18:])
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	if out.Context == nil {
		out.Context = func(ctx context.Context, _ *Job) context.Context { return ctx }
	}
	if out.OnStart == nil {
		out.OnStart = func(*Job) {}
	}
	if out.OnPark == nil {
		out.OnPark = func(*Job, Delivery) {}
	}
	if out.OnResult == nil {
		out.OnResult = func(*Result) {}
	}
	if out.OnEnd == nil {
		out.OnEnd = func(*Job) {}
	}
	if out.OnPause == nil {
		out.OnPause = func(*Pause) {}
	}
	if out.OnRest == nil {
		out.OnRest = func(time.Time) {}
	}
	return out, nil
}
