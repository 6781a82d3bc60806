package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
)

// Operator lists, cancels, moves and pauses the jobs of a queue. Make it with [NewOperator]. It is safe for concurrent
// use, also with other operators and with workers.
type Operator struct{ q *Queue }

// NewOperator returns the operator of a queue. It does no I/O.
func NewOperator(q *Queue) *Operator { return &Operator{q} }

// State is what a job without an answer waits for.
type State string

// States of jobs.
const (
	StateWaiting State = "waiting" // for a worker
	StateRunning State = "running" // a worker has received it
	StateParked  State = "parked"  // for a time
	StateDead    State = "dead"    // it has failed: a dead letter
)

// States are all states, in the order of a job's life.
var States = []State{StateWaiting, StateRunning, StateParked, StateDead}

// Selection selects jobs that have all its properties. The zero value selects each job without an answer.
type Selection struct {
	State State
	Owner string
	// Batch is the part of the id before the first dot; see JobInfo.Batch.
	Batch string
	// Reason is the reason of the failure, or of the last delivery of a job that has not failed.
	Reason clichain.Reason
}

// Check returns an error that names the invalid field.
func (s *Selection) Check() error {
	if s.Owner != "" && !ValidOwner(s.Owner) {
		return invalid(clichain.ReasonBadOption, "owner", fmt.Sprintf("%.100q cannot be an owner", s.Owner))
	}
	return nil
}

// JobInfo describes a job without an answer. It has no prompt. It is a plain value.
type JobInfo struct {
	ID       string   `json:"id"`
	State    State    `json:"state"`
	Priority Priority `json:"priority,omitempty"`
	Owner    string   `json:"owner,omitempty"`
	// Batch is the part of the id before the first dot, as in the ids of package batch. Empty: the id has no dot.
	Batch string `json:"batch,omitempty"`
	// Needs describes what the job needs of a worker. Empty: it is a dead letter.
	Needs string `json:"needs,omitempty"`
	// Submitted is the time at which the queue accepted the job. Zero: not known.
	Submitted time.Time `json:"submitted,omitzero"`
	// Until is the time for which a parked job waits. Zero: it waits for none.
	Until time.Time `json:"until,omitzero"`
	// Reason and Message are those of the failure, or of the last delivery. Empty: there was none.
	Reason  clichain.Reason `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
	// Finished, Worker, Access and SideEffects are those of a dead letter.
	Finished    time.Time       `json:"finished,omitzero"`
	Worker      string          `json:"worker,omitempty"`
	Access      clichain.Access `json:"access,omitempty"`
	SideEffects bool            `json:"side_effects,omitempty"`
	// Deliveries is how many deliveries have ended.
	Deliveries int `json:"deliveries,omitempty"`
}

func batchOf(id string) string {
	batch, _, found := strings.Cut(id, ".")
	if !found {
		return ""
	}
	return batch
}

// Jobs yields the selected jobs: first those that wait or run, oldest first, and then the dead letters, oldest first.
// With an owner, the jobs of a higher priority come first. The loop ends after an error. Memory and time of a loop that
// ends early do not depend on the number of jobs.
func (o *Operator) Jobs(ctx context.Context, want Selection) iter.Seq2[*JobInfo, error] {
	return func(yield func(*JobInfo, error) bool) {
		if err := want.Check(); err != nil {
			yield(nil, err)
			return
		}
		see := func(i *JobInfo, err error) bool {
			if err == nil && !want.has(i) {
				return true
			}
			return yield(i, err) && err == nil
		}
		if want.State != StateDead && !o.live(ctx, want, see) {
			return
		}
		if want.State == "" || want.State == StateDead {
			o.dead(ctx, see)
		}
	}
}

func (s *Selection) has(i *JobInfo) bool {
	return (s.State == "" || s.State == i.State) && (s.Owner == "" || s.Owner == i.Owner) &&
		(s.Batch == "" || s.Batch == i.Batch) && (s.Reason == "" || s.Reason == i.Reason)
}

// live yields the jobs that wait or run. It returns false if the loop has ended.
func (o *Operator) live(ctx context.Context, want Selection, see func(*JobInfo, error) bool) bool {
	subjects := []string{o.q.store.AllJobs()}
	switch {
	case want.State == StateParked && want.Owner == "":
		subjects = []string{o.q.store.ParkedJobs()}
	case want.Owner != "":
		subjects = nil
		for _, p := range priorities {
			subjects = append(subjects, o.q.store.JobsOf(store.Group{Priority: string(p), Owner: want.Owner}))
		}
	}
	view := &view{o: o, delivered: map[*classes.Consumer]uint64{}}
	for _, subject := range subjects {
		for msg, err := range o.q.store.Each(ctx, subject, 0) {
			var i *JobInfo
			if err == nil {
				i, err = view.info(ctx, msg)
			}
			if i == nil && err == nil {
				continue // it has left the queue in the meantime
			}
			if !see(i, err) {
				return false
			}
		}
	}
	return true
}

// view is what one loop knows about the consumers.
type view struct {
	o         *Operator
	delivered map[*classes.Consumer]uint64 // the last sequence that each has delivered
	fresh     bool
}

func (v *view) info(ctx context.Context, msg *js.RawStreamMsg) (*JobInfo, error) {
	e, err := v.o.read(ctx, msg)
	if errors.Is(err, store.ErrUnreadable) && e.ID == "" {
		return nil, nil
	}
	class, group, scheduled := v.o.q.store.Place(msg.Subject)
	i := &JobInfo{
		ID: e.ID, State: StateWaiting, Priority: e.priority(), Owner: e.Owner, Batch: batchOf(e.ID),
		Submitted: e.Submitted, Until: store.Due(msg), Deliveries: len(e.History),
	}
	if n := len(e.History); n > 0 {
		i.Reason, i.Message = e.History[n-1].Reason, e.History[n-1].Message
	}
	if err == nil {
		i.Needs = e.needs().String()
	}
	if scheduled {
		i.State = StateParked
		return i, nil
	}
	running, err := v.isDelivered(ctx, class, group, msg.Sequence)
	if running {
		i.State = StateRunning
	}
	return i, err
}

// isDelivered reports whether a consumer has delivered a message to a worker.
func (v *view) isDelivered(ctx context.Context, class string, g store.Group, sequence uint64) (bool, error) {
	c := v.o.q.consumers.Get(class, g)
	if c == nil && !v.fresh {
		v.fresh = true
		if err := v.o.q.consumers.Refresh(ctx); err != nil {
			return false, fmt.Errorf("jetstream: %w", err)
		}
		c = v.o.q.consumers.Get(class, g)
	}
	if c == nil {
		return false, nil
	}
	last, known := v.delivered[c]
	if !known {
		info, err := c.Info(ctx)
		if err != nil {
			return false, fmt.Errorf("jetstream: %w", err)
		}
		last = info.Delivered.Stream
		v.delivered[c] = last
	}
	return sequence <= last, nil
}

// isDelivered reports whether the server has delivered a message to a worker, as of now.
func (o *Operator) isDelivered(ctx context.Context, msg *js.RawStreamMsg) (bool, error) {
	class, group, scheduled := o.q.store.Place(msg.Subject)
	if scheduled {
		return false, nil
	}
	return (&view{o: o, delivered: map[*classes.Consumer]uint64{}}).isDelivered(ctx, class, group, msg.Sequence)
}

// read reads a job of the queue. After an error, the job has what could be read; after errNewer, that is raw too.
func (o *Operator) read(ctx context.Context, msg *js.RawStreamMsg) (e envelope, err error) {
	data, err := o.q.store.Content(ctx, msg.Header, msg.Data)
	if err == nil {
		err = e.decode(data, o.q.protocol)
	}
	if errors.Is(err, errNewer) {
		e.raw = data
	}
	_, group, _ := o.q.store.Place(msg.Subject)
	e.belongTo(group)
	return e, err
}

// dead yields the dead letters.
func (o *Operator) dead(ctx context.Context, see func(*JobInfo, error) bool) {
	for r, err := range o.q.Dead(ctx) {
		if err != nil {
			see(nil, err)
			return
		}
		i := &JobInfo{
			ID: r.ID, State: StateDead, Owner: r.Owner, Batch: batchOf(r.ID), Reason: r.Failure.Reason,
			Message: r.Failure.Message, Finished: r.Finished, Worker: r.Worker, SideEffects: r.Failure.SideEffects,
			Deliveries: len(r.History) + 1,
		}
		if r.Job != nil {
			i.Priority, i.Submitted, i.Access = r.Job.priority(), r.Job.Submitted, r.Job.Request.Access
		}
		if !see(i, nil) {
			return
		}
	}
}
