package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	js "github.com/nats-io/nats.go/jetstream"
)

// Result is a result for the store.
type Result struct {
	Key string
	// MessageID lets the server recognize another attempt to store the same result. Empty: it cannot.
	MessageID string
	Failed    bool
	Figures
	Data []byte
}

// StoreResult stores a result and returns its sequence. It returns ErrExists if the job already has a result.
func (s *Store) StoreResult(ctx context.Context, r Result) (sequence uint64, err error) {
	subject := s.answered(r.Key)
	if r.Failed {
		subject = s.Failed(r.Key)
	}
	msg, err := s.message(ctx, subject, r.Key, r.Data)
	if err != nil {
		return 0, err
	}
	if r.addTo(msg.Header); r.MessageID != "" {
		msg.Header.Set(js.MsgIDHeader, r.MessageID)
	}
	ack, err := s.publish(ctx, msg, 0, s.AnyResult(r.Key))
	if errors.Is(err, ErrExists) {
		return 0, err
	}
	if err != nil {
		return 0, fmt.Errorf("jetstream: store the result: %w", err)
	}
	return ack.Sequence, nil
}

// LastResult returns the result of a job; nil if there is none.
func (s *Store) LastResult(ctx context.Context, key string) (*js.RawStreamMsg, error) {
	return jsapi.Last(ctx, s.Results, s.AnyResult(key))
}

// LastFailure returns the result of a failed job; nil if there is none.
func (s *Store) LastFailure(ctx context.Context, key string) (*js.RawStreamMsg, error) {
	return jsapi.Last(ctx, s.Results, s.Failed(key))
}

// RemoveResult removes a result and its payload.
func (s *Store) RemoveResult(ctx context.Context, msg *js.RawStreamMsg) error {
	if err := jsapi.Remove(ctx, s.Results, msg.Sequence); err != nil {
		return err
	}
	return s.Discard(ctx, msg.Header)
}

// Mark names the worker that began a job that may change something.
type Mark struct {
	Worker string    `json:"worker"`
	At     time.Time `json:"at"`
	ID     string    `json:"id"` // of the mark
}

// Begin marks a job before it runs. If another worker began the job and did not remove its mark, Begin returns that
// mark. It may be called again with the same mark.
func (s *Store) Begin(ctx context.Context, key string, mark Mark) (earlier *Mark, err error) {
	data, err := json.Marshal(mark)
	if err != nil {
		return nil, err
	}
	_, err = s.js.Publish(ctx, s.mark(key), data, js.WithExpectLastSequencePerSubject(0))
	if err == nil {
		return nil, nil
	}
	if !jsapi.IsConflict(err) {
		return nil, fmt.Errorf("jetstream: mark the job: %w", err)
	}
	earlier, err = s.Begun(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case earlier == nil: // it was removed in the meantime, by a worker that settled the job
		return new(Mark), nil
	case earlier.ID == mark.ID:
		return nil, nil
	}
	return earlier, nil
}

// Begun returns the mark of a job, or nil if it has none.
func (s *Store) Begun(ctx context.Context, key string) (*Mark, error) {
	msg, err := jsapi.Last(ctx, s.State, s.mark(key))
	if msg == nil || err != nil {
		return nil, err
	}
	mark := new(Mark)
	_ = json.Unmarshal(msg.Data, mark) // an unreadable mark names no worker
	return mark, nil
}

// Unmark removes the mark of a job that is finished, or that has certainly changed nothing.
func (s *Store) Unmark(ctx context.Context, key string) error {
	if err := s.State.Purge(ctx, js.WithPurgeSubject(s.mark(key))); err != nil {
		return fmt.Errorf("jetstream: remove the mark of the job: %w", err)
	}
	return nil
}
