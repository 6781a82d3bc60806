package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/jsapi"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

const (
	// payloadHeader names the object with the payload of a message that is too large for one.
	payloadHeader = "Clichain-Payload"
	// maxInline is the largest payload that is stored in its message.
	maxInline = 512 << 10
	// maxPayload bounds the memory that one job or result may take.
	maxPayload = 256 << 20
	// sweepAge is the minimum age of a payload that Sweep removes, because a payload is stored before its message.
	sweepAge = time.Hour
)

// ErrUnreadable is the error for a message that no later attempt can read.
var ErrUnreadable = errors.New("jetstream: a message of the queue cannot be read")

// message makes a message with JSON. It first writes a large payload to the object store.
func (s *Store) message(ctx context.Context, subject, key string, data []byte) (*nats.Msg, error) {
	msg := nats.NewMsg(subject)
	if len(data) > maxPayload {
		return nil, &clichain.BackendError{
			Reason: clichain.ReasonBadRequest, Option: "messages", ExitCode: -1,
			Message: fmt.Sprintf("%d bytes: a job or result has at most %d", len(data), maxPayload),
		}
	}
	if int64(len(data)) <= min(maxInline, s.Conn.MaxPayload()/2) {
		msg.Data = data
		return msg, nil
	}
	name := key + "." + nuid.Next()
	if _, err := s.objects.PutBytes(ctx, name, data); err != nil {
		return nil, fmt.Errorf("jetstream: store a payload of %d bytes: %w", len(data), err)
	}
	msg.Header.Set(payloadHeader, name)
	return msg, nil
}

// Read decodes the JSON of a message.
func (s *Store) Read(ctx context.Context, header nats.Header, data []byte, value any) error {
	data, err := s.Content(ctx, header, data)
	if err != nil {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(value); err != nil {
		return fmt.Errorf("%w: %v", ErrUnreadable, err)
	}
	return nil
}

// Content returns the JSON of a message: its data, or the object that its header names.
func (s *Store) Content(ctx context.Context, header nats.Header, data []byte) ([]byte, error) {
	name := header.Get(payloadHeader)
	if name == "" {
		return data, nil
	}
	object, err := s.objects.Get(ctx, name)
	if errors.Is(err, js.ErrObjectNotFound) {
		return nil, fmt.Errorf("%w: its payload does not exist", ErrUnreadable)
	}
	if err == nil {
		defer object.Close()
		data, err = io.ReadAll(io.LimitReader(object, maxPayload))
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: payload %s: %w", name, err)
	}
	return data, nil
}

// Discard removes the payload of a message that was removed.
func (s *Store) Discard(ctx context.Context, header nats.Header) error {
	name := header.Get(payloadHeader)
	if name == "" {
		return nil
	}
	if err := s.objects.Delete(ctx, name); err != nil && !errors.Is(err, js.ErrObjectNotFound) {
		return fmt.Errorf("jetstream: payload %s: %w", name, err)
	}
	return nil
}

// Sweep removes the payloads that no message names, for example after a worker died between the two writes.
func (s *Store) Sweep(ctx context.Context, now time.Time) error {
	objects, err := s.objects.List(ctx)
	if errors.Is(err, js.ErrNoObjectsFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("jetstream: sweep: %w", err)
	}
	for _, object := range objects {
		if now.Sub(object.ModTime) < sweepAge {
			continue
		}
		used, err := s.isUsed(ctx, object.Name)
		if err == nil && !used {
			err = s.objects.Delete(ctx, object.Name)
		}
		if err != nil {
			return fmt.Errorf("jetstream: sweep: %w", err)
		}
	}
	return nil
}

// isUsed reports whether a message names the payload.
func (s *Store) isUsed(ctx context.Context, payload string) (bool, error) {
	key, _, _ := strings.Cut(payload, ".")
	for stream, subject := range map[js.Stream]string{s.Jobs: s.anyJob(key), s.Results: s.AnyResult(key)} {
		msg, err := jsapi.Last(ctx, stream, subject)
		if err != nil {
			return false, err
		}
		if msg != nil && msg.Header.Get(payloadHeader) == payload {
			return true, nil
		}
	}
	return false, nil
}
