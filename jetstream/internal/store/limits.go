package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// Owners stores what the clients of a queue must agree on to keep the limits of owners: the limits, the running jobs,
// and the sums of each day. SaveLimits creates the streams, so a queue without limits has none of them.
type Owners struct{ *Store }

// ownerToken returns the token of an owner in the subjects of slots and sums. The empty owner has one, too.
func ownerToken(owner string) string { return ownerSign + owner }

func (s Subjects) limits() string { return s.subject("limits") }

// LoadLimits returns the limits of the owners as SaveLimits stored them; nil if there are none.
func (s Owners) LoadLimits(ctx context.Context) ([]byte, error) {
	stream, err := s.js.Stream(ctx, s.Stream("limits"))
	if errors.Is(err, js.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: limits of owners: %w", err)
	}
	msg, err := jsapi.Last(ctx, stream, s.limits())
	if msg == nil || err != nil {
		return nil, err
	}
	return msg.Data, nil
}

// SaveLimits replaces the limits of the owners. It also creates the streams that workers need to keep them, because
// workers may not have the permission. The age is that of slots.
func (s Owners) SaveLimits(ctx context.Context, data []byte, age time.Duration) error {
	_, err := s.slotStream(ctx, age)
	if err == nil {
		err = s.openSums(ctx)
	}
	if err == nil {
		_, err = s.stream(ctx, js.StreamConfig{
			Name: s.Stream("limits"), Subjects: []string{s.limits()}, MaxMsgsPerSubject: 1, Replicas: s.replicas(),
		})
	}
	if err == nil {
		_, err = s.js.Publish(ctx, s.limits(), data)
	}
	if err != nil {
		return fmt.Errorf("jetstream: limits of owners: %w", err)
	}
	return nil
}

// replicas returns how many servers store each job.
func (s Owners) replicas() int { return s.Jobs.CachedInfo().Config.Replicas }

// CountJobs counts the jobs of an owner that have no result. The server counts the subjects, so its cost grows with
// the number.
func (s Owners) CountJobs(ctx context.Context, owner string, priorities []string) (n int, err error) {
	for _, p := range priorities {
		found, err := jsapi.CountSubjects(ctx, s.Conn, s.Stream("jobs"), s.JobSubject("*", Group{p, owner}, "*"))
		if err != nil {
			return 0, fmt.Errorf("jetstream: jobs of an owner: %w", err)
		}
		n += found
	}
	return n, nil
}

// JobsOf yields the messages of the jobs of a group in their order.
func (s Owners) JobsOf(ctx context.Context, g Group) iter.Seq2[*js.RawStreamMsg, error] {
	return func(yield func(*js.RawStreamMsg, error) bool) {
		for sequence := uint64(0); ; {
			msg, err := s.FirstJob(ctx, s.JobSubject("*", g, "*"), sequence)
			if err == nil && msg == nil || !yield(msg, err) || err != nil {
				return
			}
			sequence = msg.Sequence
		}
	}
}

// Sums of a day. Each addition is idempotent for sumRepeat, and a sum is kept for sumMemory after its last addition.
const (
	sumMemory = 35 * 24 * time.Hour
	sumRepeat = 10 * time.Minute
)

const incrementHeader = "Nats-Incr"

func (s Subjects) sum(owner, day, unit string) string {
	return s.subject("used." + ownerToken(owner) + "." + day + "." + unit)
}

func (s Owners) openSums(ctx context.Context) error {
	_, err := s.stream(ctx, js.StreamConfig{
		Name: s.Stream("used"), Subjects: []string{s.subject("used.>")}, AllowMsgCounter: true, MaxMsgsPerSubject: 1,
		MaxAge: sumMemory, Duplicates: sumRepeat, Replicas: s.replicas(),
	})
	return err
}

// AddToSum adds to the sum of an owner, a day and a unit. id identifies the addition: a repetition adds nothing.
func (s Owners) AddToSum(ctx context.Context, owner, day, unit string, n int64, id string) error {
	if err := s.openSums(ctx); err != nil {
		return err
	}
	msg := nats.NewMsg(s.sum(owner, day, unit))
	msg.Header.Set(incrementHeader, fmt.Sprintf("%+d", n))
	msg.Header.Set(js.MsgIDHeader, id+"."+unit)
	if _, err := s.js.PublishMsg(ctx, msg); err != nil {
		return fmt.Errorf("jetstream: usage of an owner: %w", err)
	}
	return nil
}

// Sum returns a sum; zero if nothing was added.
func (s Owners) Sum(ctx context.Context, owner, day, unit string) (int64, error) {
	stream, err := s.js.Stream(ctx, s.Stream("used"))
	if errors.Is(err, js.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("jetstream: usage of an owner: %w", err)
	}
	msg, err := jsapi.Last(ctx, stream, s.sum(owner, day, unit))
	if msg == nil || err != nil {
		return 0, err
	}
	var counter struct {
		Value string `json:"val"`
	}
	if err := json.Unmarshal(msg.Data, &counter); err != nil {
		return 0, fmt.Errorf("jetstream: usage of an owner: %w", err)
	}
	return strconv.ParseInt(counter.Value, 10, 64)
}
