package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
)

// surplusFrom is the number of jobs from which workers end those above a limit. Clients that submit at the same time
// can exceed a limit by a few jobs, which workers run.
func surplusFrom(limit int) int { return limit + limit/10 + 10 }

// surplus ends the jobs of clients that ignore the limit of queued jobs.
type surplus struct {
	q        *Queue
	worker   string // the name of the worker in results
	log      *slog.Logger
	onResult func(*Result)
}

// watch looks for such jobs until ctx ends.
func (s surplus) watch(ctx context.Context) {
	tick := time.NewTicker(s.q.surplusPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.end(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot end jobs above a limit", "error", err)
		}
	}
}

func (s surplus) end(ctx context.Context) error {
	limits, err := s.q.limits.get(ctx, s.q.Limits)
	if err != nil {
		return err
	}
	checked := map[string]bool{AnyOwner: true}
	for _, c := range s.q.consumers.List() {
		limit := limits.Of(c.Owner).Queued
		if checked[c.Owner] || limit == 0 {
			continue
		}
		checked[c.Owner] = true
		n, err := s.q.owners.CountJobs(ctx, c.Owner, priorityNames())
		if err == nil && n >= surplusFrom(limit) {
			err = s.endJobsAbove(ctx, c.Owner, limit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endJobsAbove ends the jobs of an owner above a limit: the latest of the lowest priority.
func (s surplus) endJobsAbove(ctx context.Context, owner string, limit int) error {
	kept, ended := 0, 0
	for _, p := range priorityNames() {
		for msg, err := range s.q.owners.JobsOf(ctx, store.Group{Priority: p, Owner: owner}) {
			if err != nil {
				return err
			}
			if kept++; kept <= limit || s.delivered(ctx, msg) {
				continue
			}
			if err := s.endJobAbove(ctx, msg, owner, limit); err != nil {
				return err
			}
			ended++
		}
	}
	s.log.WarnContext(ctx, "jobs above the limit of queued jobs have failed",
		"owner", owner, "limit", limit, "jobs", ended)
	return nil
}

// delivered reports whether a worker may run a job.
func (s surplus) delivered(ctx context.Context, msg *js.RawStreamMsg) bool {
	class, group, scheduled := s.q.store.Place(msg.Subject)
	if scheduled {
		return false
	}
	c := s.q.consumers.Get(class, group)
	if c == nil {
		return false
	}
	info, err := c.Info(ctx)
	return err != nil || msg.Sequence <= info.Delivered.Stream
}

// endJobAbove stores a failure without the job, so that many such jobs do not fill the space of results.
func (s surplus) endJobAbove(ctx context.Context, msg *js.RawStreamMsg, owner string, limit int) error {
	var e envelope
	data, err := s.q.store.Content(ctx, msg.Header, msg.Data)
	if err != nil && !errors.Is(err, store.ErrUnreadable) {
		return err
	}
	if err != nil || e.decode(data, s.q.protocol) != nil || s.q.store.KeyOf(msg.Subject) != store.Key(e.ID) {
		e.ID = "unreadable " + msg.Subject
	}
	r := &Result{ID: e.ID, Owner: owner, Worker: s.worker, Finished: time.Now().UTC(), Failure: &Failure{
		Reason: clichain.ReasonPermissionRefused,
		Message: fmt.Sprintf("%s may have %d jobs in the queue, and this one was submitted in spite of that: submit it "+
			"again after workers have answered some", ownerText(owner), limit),
	}}
	err = s.q.storeResult(ctx, r)
	if err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	if err == nil { // else another worker has ended it
		s.onResult(r)
	}
	return s.q.store.RemoveJob(ctx, msg)
}
