package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/clichain/clichain"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

const (
	// payloadHeader names the object with the payload of a message that is too large for one.
	payloadHeader = "Clichain-Payload"
	// payloadOfResult is the description of the payload of a result.
	payloadOfResult = "result"
	// maxInline is the largest payload that is stored in its message.
	maxInline = 512 << 10
	// maxPayload bounds the memory that one job or result may take.
	maxPayload = 256 << 20
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
	object := js.ObjectMeta{Name: key + "." + nuid.Next()}
	if strings.HasPrefix(subject, s.subject("result.")) {
		object.Description = payloadOfResult
	}
	if _, err := s.objects.Put(ctx, object, bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("jetstream: store a payload of %d bytes: %w", len(data), err)
	}
	msg.Header.Set(payloadHeader, object.Name)
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
	return s.discard(ctx, header.Get(payloadHeader))
}

func (s *Store) discard(ctx context.Context, payload string) error {
	if payload == "" {
		return nil
	}
	if err := s.objects.Delete(ctx, payload); err != nil && !errors.Is(err, js.ErrObjectNotFound) {
		return fmt.Errorf("jetstream: payload %s: %w", payload, err)
	}
	return nil
}
