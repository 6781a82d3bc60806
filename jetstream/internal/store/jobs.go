package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	js "github.com/nats-io/nats.go/jetstream"
)

// Job is a job for the store: its class, group and key, and its JSON.
type Job struct {
	Group
	Class, Key string
	Data       []byte
}

// scheduledClass replaces the class in the subjects of jobs that wait for a time.
const scheduledClass = "later"

// Headers that make the server publish a message at a time.
const (
	scheduleHeader = "Nats-Schedule"
	targetHeader   = "Nats-Schedule-Target"
	originHeader   = "Nats-Scheduler" // in the published message: the subject of its schedule
)

// ConsumerName returns the name of the consumer of a class and group.
func ConsumerName(class string, g Group) string {
	if class == ReadyClass {
		return g.consumer()
	}
	return g.consumer() + "-" + class
}

// ReadyClass is the class of the jobs that workers of protocol 1 take.
const ReadyClass = "ready"

// Add adds a job and wakes the workers. It returns ErrExists if the job is already in the queue.
func (s *Store) Add(ctx context.Context, j Job) error {
	msg, err := s.message(ctx, s.JobSubject(j.Class, j.Group, j.Key), j.Key, j.Data)
	if err != nil {
		return explainFull(err)
	}
	if _, err = s.publish(ctx, msg, 0, s.anyJob(j.Key)); errors.Is(err, ErrExists) {
		return err
	}
	if err != nil {
		return fmt.Errorf("jetstream: submit: %w", explainFull(err))
	}
	return s.wake(j)
}

// Replace puts a job in the place of the message with this sequence. If until is in the future, the job waits until
// then. It returns ErrExists if the job has another message by now.
func (s *Store) Replace(ctx context.Context, j Job, sequence uint64, until time.Time) error {
	subject, schedule := s.JobSubject(j.Class, j.Group, j.Key), ""
	if until.After(time.Now()) {
		subject, schedule = s.JobSubject(scheduledClass, j.Group, j.Key), subject
	}
	msg, err := s.message(ctx, subject, j.Key, j.Data)
	if err != nil {
		return err
	}
	if schedule != "" {
		msg.Header.Set(scheduleHeader, "@at "+until.UTC().Format(time.RFC3339Nano))
		msg.Header.Set(targetHeader, schedule)
	}
	if _, err := s.publish(ctx, msg, sequence, s.anyJob(j.Key)); err != nil {
		return err
	}
	return s.wake(j)
}

func (s *Store) wake(j Job) error {
	return s.Conn.Publish(s.Wake(), []byte(ConsumerName(j.Class, j.Group)))
}

// LastJob returns the message of a job; nil if there is none.
func (s *Store) LastJob(ctx context.Context, key string) (*js.RawStreamMsg, error) {
	return jsapi.Last(ctx, s.Jobs, s.anyJob(key))
}

// FirstJob returns the first message that matches a subject, after a sequence; nil if there is none.
func (s *Store) FirstJob(ctx context.Context, subject string, after uint64) (*js.RawStreamMsg, error) {
	msg, err := s.Jobs.GetMsg(ctx, after+1, js.WithGetMsgSubject(subject))
	if errors.Is(err, js.ErrMsgNotFound) {
		return nil, nil
	}
	return msg, err
}

// RemoveJob removes a message of a job and its payload. The payload stays if the server has published the message of a
// parked job, because both have the same payload.
func (s *Store) RemoveJob(ctx context.Context, msg *js.RawStreamMsg) error {
	if err := jsapi.Remove(ctx, s.Jobs, msg.Sequence); err != nil {
		return err
	}
	payload := msg.Header.Get(payloadHeader)
	if payload == "" {
		return nil
	}
	if used, err := (Cleaner{s}).isUsed(ctx, payload); used || err != nil {
		return err
	}
	return s.discard(ctx, payload)
}

// Place returns the class and group in the subject of a job. scheduled reports that the job waits for a time.
func (s Subjects) Place(subject string) (class string, g Group, scheduled bool) {
	class, rest, _ := strings.Cut(strings.TrimPrefix(subject, s.subject("job.")), ".")
	token, _, _ := strings.Cut(rest, ".")
	return class, parseGroup(token), class == scheduledClass
}

// CheckOrigin returns an error if the server published a job for a schedule in another group. Permissions limit the
// subject of a schedule, but not its target.
func (s Subjects) CheckOrigin(m js.Msg) error {
	from := m.Headers().Get(originHeader)
	if from == "" {
		return nil
	}
	_, group, _ := s.Place(m.Subject())
	if _, origin, _ := s.Place(from); origin != group {
		return fmt.Errorf("%w: it was scheduled for %s from %s", ErrUnreadable, group.token(), origin.token())
	}
	return nil
}

// Scheduled yields the messages of the jobs that wait for a time.
func (s *Store) Scheduled(ctx context.Context) iter.Seq2[*js.RawStreamMsg, error] {
	return s.Each(ctx, s.ParkedJobs(), 0)
}

// Due returns the time for which a job waits; zero if it waits for none.
func Due(msg *js.RawStreamMsg) time.Time {
	due, _ := strings.CutPrefix(msg.Header.Get(scheduleHeader), "@at ")
	at, err := time.Parse(time.RFC3339Nano, due)
	if err != nil {
		return time.Time{}
	}
	return at
}
