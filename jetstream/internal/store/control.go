package store

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// Pauses are the recorded pauses of a queue. An empty owner means all jobs.
type Pauses struct{ *Store }

func (s Pauses) on(owner string) string { return s.subject("job.pause." + ownerSign + owner) }

// Set records the pause of an owner's jobs, in place of an earlier one.
func (s Pauses) Set(ctx context.Context, owner string, data []byte) error {
	if _, err := s.js.Publish(ctx, s.on(owner), data); err != nil {
		return fmt.Errorf("jetstream: pause: %w", err)
	}
	return s.purge(ctx, owner, js.WithPurgeKeep(1))
}

// Remove removes the pause of an owner's jobs, if there is one.
func (s Pauses) Remove(ctx context.Context, owner string) error { return s.purge(ctx, owner) }

func (s Pauses) purge(ctx context.Context, owner string, options ...js.StreamPurgeOpt) error {
	if err := s.Jobs.Purge(ctx, append(options, js.WithPurgeSubject(s.on(owner)))...); err != nil {
		return fmt.Errorf("jetstream: pause: %w", err)
	}
	return nil
}

// All yields the recorded pauses, a later one of the same owner after the earlier one.
func (s Pauses) All(ctx context.Context) iter.Seq2[*js.RawStreamMsg, error] {
	return s.Each(ctx, s.subject("job.pause.*"), 0)
}

// Owner returns the owner in the subject of a pause.
func (s Pauses) Owner(subject string) string { return strings.TrimPrefix(subject, s.on("")) }

// AllJobs matches each job.
func (s Subjects) AllJobs() string { return s.anyJob("*") }

// JobsOf matches the jobs of a group.
func (s Subjects) JobsOf(g Group) string { return s.subject("job.*." + g.token() + ".*") }

// Each yields the messages that match a subject, after a sequence. It reads one message at a time, because the server
// allows no second consumer for a job.
func (s *Store) Each(ctx context.Context, subject string, after uint64) iter.Seq2[*js.RawStreamMsg, error] {
	return func(yield func(*js.RawStreamMsg, error) bool) {
		for {
			msg, err := s.FirstJob(ctx, subject, after)
			if err == nil && msg == nil || !yield(msg, err) || err != nil {
				return
			}
			after = msg.Sequence
		}
	}
}

// OldestJob returns the first message of a job; nil if there is none. It differs from LastJob only while an operator
// moves the job, or after the operator was interrupted.
func OldestJob(ctx context.Context, s *Store, key string) (*js.RawStreamMsg, error) {
	return s.FirstJob(ctx, s.anyJob(key), 0)
}

// ParkedJobs matches each job that waits for a time.
func (s Subjects) ParkedJobs() string { return s.subject("job." + scheduledClass + ".>") }

// Hold makes the job of a parked message wait until another time. It returns ErrExists if the job has another message
// by now.
func Hold(ctx context.Context, s *Store, msg *js.RawStreamMsg, key string, until time.Time) error {
	data, err := s.Content(ctx, msg.Header, msg.Data)
	if err != nil {
		return err
	}
	class, group, _ := s.Place(msg.Header.Get(targetHeader))
	if err := s.Replace(ctx, Job{group, class, key, data}, msg.Sequence, until); err != nil {
		return err
	}
	return s.Discard(ctx, msg.Header) // the server has replaced the message
}

// WasScheduled reports whether the server published a message at the time of a schedule.
func WasScheduled(m js.Msg) bool { return m.Headers().Get(originHeader) != "" }
