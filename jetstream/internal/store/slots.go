package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	js "github.com/nats-io/nats.go/jetstream"
)

// Slot is one of the jobs that an owner may run at the same time. The server removes it when its worker has not
// extended it for its age. It is not safe for concurrent use.
type Slot struct {
	subject  string
	sequence uint64
	age      time.Duration
}

// ErrSlotLost is the error of ExtendSlot if another worker has the slot.
var ErrSlotLost = errors.New("jetstream: another worker has the slot of the owner")

func (s Subjects) slot(owner, number string) string {
	return s.subject("running." + ownerToken(owner) + "." + number)
}

// slotStream opens the slots of the owners, and creates them with an age. They are on the disk, because a server
// without a cluster loses its streams in memory when it restarts.
func (s Owners) slotStream(ctx context.Context, age time.Duration) (js.Stream, error) {
	return s.stream(ctx, js.StreamConfig{
		Name: s.Stream("running"), Subjects: []string{s.subject("running.>")}, MaxMsgsPerSubject: 1,
		MaxAge: age, Duplicates: min(age, time.Minute), Replicas: s.replicas(),
	})
}

// AcquireSlots takes up to n slots of an owner that has at most limit. Each expires after an age without ExtendSlot. It
// may return slots together with an error.
func (s Owners) AcquireSlots(
	ctx context.Context, owner string, n, limit int, age time.Duration,
) (slots []*Slot, err error) {
	taken, err := s.takenSlots(ctx, owner, age)
	if err != nil {
		return nil, err
	}
	n = min(n, limit-len(taken))
	for i, first := 0, rand.IntN(max(limit, 1)); i < limit && len(slots) < n; i++ {
		subject := s.slot(owner, strconv.Itoa((first+i)%limit))
		if taken[subject] {
			continue
		}
		ack, err := s.js.Publish(ctx, subject, nil, js.WithExpectLastSequencePerSubject(0))
		switch {
		case jsapi.IsConflict(err): // another worker was faster
		case err != nil:
			return slots, fmt.Errorf("jetstream: slots of an owner: %w", err)
		default:
			slots = append(slots, &Slot{subject, ack.Sequence, age})
		}
	}
	return slots, nil
}

// CountSlots returns how many slots an owner has.
func (s Owners) CountSlots(ctx context.Context, owner string) (int, error) {
	n, err := jsapi.CountSubjects(ctx, s.Conn, s.Stream("running"), s.slot(owner, "*"))
	if errors.Is(err, js.ErrStreamNotFound) {
		return 0, nil
	}
	return n, err
}

func (s Owners) takenSlots(ctx context.Context, owner string, age time.Duration) (map[string]bool, error) {
	stream, err := s.slotStream(ctx, age)
	if err != nil {
		return nil, fmt.Errorf("jetstream: slots of an owner: %w", err)
	}
	info, err := stream.Info(ctx, js.WithSubjectFilter(s.slot(owner, "*")))
	if err != nil {
		return nil, fmt.Errorf("jetstream: slots of an owner: %w", err)
	}
	taken := make(map[string]bool, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		taken[subject] = true
	}
	return taken, nil
}

// ExtendSlot keeps a slot for another age. If the server has lost the slot, ExtendSlot takes it again.
func (s Owners) ExtendSlot(ctx context.Context, slot *Slot) error {
	if _, err := s.slotStream(ctx, slot.age); err != nil {
		return fmt.Errorf("jetstream: slot of an owner: %w", err)
	}
	for _, sequence := range []uint64{slot.sequence, 0} {
		ack, err := s.js.Publish(ctx, slot.subject, nil, js.WithExpectLastSequencePerSubject(sequence))
		if err == nil {
			slot.sequence = ack.Sequence
			return nil
		}
		if !jsapi.IsConflict(err) {
			return fmt.Errorf("jetstream: slot of an owner: %w", err)
		}
	}
	return ErrSlotLost
}

// ReleaseSlot returns a slot.
func (s Owners) ReleaseSlot(ctx context.Context, slot *Slot) error {
	stream, err := s.js.Stream(ctx, s.Stream("running"))
	if err == nil {
		err = jsapi.Remove(ctx, stream, slot.sequence)
	}
	if err != nil && !errors.Is(err, js.ErrStreamNotFound) {
		return fmt.Errorf("jetstream: slot of an owner: %w", err)
	}
	return nil
}
