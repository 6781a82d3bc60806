package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
)

// surplusFrom is the number of jobs from which workers end those above a limit. Clients that submit at the same time
// can exceed a limit by a few jobs, which workers run.
func surplusFrom(limit int) int { return limit + limit/10 + 10 }

// endSurplus ends the jobs of clients that ignore the limit of queued jobs, until ctx ends.
func (w *worker) endSurplus(ctx context.Context) {
	tick := time.NewTicker(w.q.surplusPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.endSurplusOnce(ctx); err != nil && ctx.Err() == nil {
			w.Logger.WarnContext(ctx, "cannot end jobs above a limit", "error", err)
		}
	}
}

func (w *worker) endSurplusOnce(ctx context.Context) error {
	limits, err := w.q.limits.get(ctx, w.q.Limits)
	if err != nil {
		return err
	}
	checked := map[string]bool{AnyOwner: true}
	for _, c := range w.q.consumers.List() {
		limit := limits.Of(c.Owner).Queued
		if checked[c.Owner] || limit == 0 {
			continue
		}
		checked[c.Owner] = true
		n, err := w.q.owners.CountJobs(ctx, c.Owner, priorityNames())
		if err == nil && n >= surplusFrom(limit) {
			err = w.endJobsAbove(ctx, c.Owner, limit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endJobsAbove ends the jobs of an owner above a limit: the latest of the lowest priority.
func (w *worker) endJobsAbove(ctx context.Context, owner string, limit int) error {
	kept, ended := 0, 0
	for _, p := range priorityNames() {
		for msg, err := range w.q.owners.JobsOf(ctx, store.Group{Priority: p, Owner: owner}) {
			if err != nil {
				return err
			}
			if kept++; kept <= limit || w.delivered(ctx, msg) {
				continue
			}
			if err := w.endJobAbove(ctx, msg, owner, limit); err != nil {
				return err
			}
			ended++
		}
	}
	w.Logger.WarnContext(ctx, "jobs above the limit of queued jobs have failed",
		"owner", owner, "limit", limit, "jobs", ended)
	return nil
}

// delivered reports whether a worker may run a job.
func (w *worker) delivered(ctx context.Context, msg *js.RawStreamMsg) bool {
	class, group, scheduled := w.q.store.Place(msg.Subject)
	if scheduled {
		return false
	}
	c := w.q.consumers.Get(class, group)
	if c == nil {
		return false
	}
	info, err := c.Info(ctx)
	return err != nil || msg.Sequence <= info.Delivered.Stream
}

// endJobAbove stores a failure without the job, so that many such jobs do not fill the space of results.
func (w *worker) endJobAbove(ctx context.Context, msg *js.RawStreamMsg, owner string, limit int) error {
	var e envelope
	data, err := w.q.store.Content(ctx, msg.Header, msg.Data)
	if err != nil && !errors.Is(err, store.ErrUnreadable) {
		return err
	}
	if err != nil || e.decode(data, w.q.protocol) != nil || w.q.store.KeyOf(msg.Subject) != store.Key(e.ID) {
		e.ID = "unreadable " + msg.Subject
	}
	r := &Result{ID: e.ID, Owner: owner, Worker: w.Name, Finished: time.Now().UTC(), Failure: &Failure{
		Reason: clichain.ReasonPermissionRefused,
		Message: fmt.Sprintf("%s may have %d jobs in the queue, and this one was submitted in spite of that: submit it "+
			"again after workers have answered some", ownerText(owner), limit),
	}}
	err = w.q.storeResult(ctx, r)
	if err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	if err == nil { // else another worker has ended it
		w.OnResult(r)
	}
	return w.q.store.RemoveJob(ctx, msg)
}
