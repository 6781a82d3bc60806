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

// WorkConfig sets how a worker works. The zero value works. The funcs may be nil; they are called from several
// goroutines at once, and hold up their job.
type WorkConfig struct {
	// Slots is how many jobs run at once. Zero: 1.
	Slots int
	// Name is the worker's in Status and History. Each worker of a queue has another. Empty: host, process id and a
	// random part.
	Name string
	// Permissions is what a job may do here: every client that may write to the queue can submit jobs. A job that asks
	// for more is left to another worker. Zero: a question with AccessNone.
	Permissions permit.Permissions
	// Chain is asked which jobs the worker can run. Set it where the backend of Work wraps a chain. Nil: the backend of
	// Work, if it is a Chain; any other backend shows only in a call what it cannot run.
	Chain *clichain.Chain
	// Alone says that no other worker will come: a job that this one cannot run fails. Zero: it goes back to the queue.
	Alone bool
	// Grace is how long jobs may go on after ctx has ended. Then the worker ends them and returns them to the queue.
	// Zero: not at all.
	Grace time.Duration
	// KeepDir is a directory on this machine for results that the server does not take, such as one with a full store.
	// They are stored when it takes them, also by the next worker with this directory. The worker makes it, with the
	// permissions 0700, when it needs it. Empty: clichain/results in the user's state directory ($XDG_STATE_HOME,
	// ~/.local/state).
	KeepDir string
	// Logger gets what a worker cannot do and continues after, such as writing to a server that is gone. Never prompts
	// or answers. Nil: silent.
	Logger *slog.Logger
	// Context makes the context of a job that is about to run, such as from its Trace. Nil: it is that of the worker.
	Context func(ctx context.Context, job *Job) context.Context
	// OnStart: a job runs now. OnPark: it returns to the queue. OnResult: its result is stored.
	OnStart  func(job *Job)
	OnPark   func(job *Job, d Delivery)
	OnResult func(r *Result)
	// OnEnd: a job for which OnStart was called has left this worker, for whatever reason.
	OnEnd func(job *Job)
	// OnRest: no backend could answer before until, and no jobs are taken. It comes again when that time changes.
	OnRest func(until time.Time)
}

func (c *WorkConfig) withDefaults() (WorkConfig, error) {
	var out WorkConfig
	if c != nil {
		out = *c
	}
	if out.Slots < 0 || out.Grace < 0 {
		return out, fmt.Errorf("jetstream: Slots %d, Grace %v: neither can be below zero", out.Slots, out.Grace)
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
	if out.OnRest == nil {
		out.OnRest = func(time.Time) {}
	}
	return out, nil
}
