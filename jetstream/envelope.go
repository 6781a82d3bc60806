package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/clichain/clichain"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// envelope is a job as the queue keeps it.
type envelope struct {
	Job
	History []Delivery `json:"history,omitempty"`
	// Replaces is the sequence of the failed result that a retry takes the place of.
	Replaces uint64 `json:"replaces,omitempty"`
	// Protocol is the version of what wrote the job. Zero: the first.
	Protocol int `json:"protocol,omitempty"`
	// Refined and Again say what the class of the job is made of: see needs.
	Refined bool   `json:"refined,omitempty"`
	Again   string `json:"again,omitempty"`

	raw json.RawMessage // the whole as JSON, where it is encoded already or this version knows only a part; may be nil
}

// payloadHeader names the object that holds the payload of a message which is too
// large for one.
const payloadHeader = "Clichain-Payload"

// maxInline is the largest payload that stays in its message.
const maxInline = 512 << 10

func (q *Queue) inline(size int) bool { return int64(size) <= min(maxInline, q.nc.MaxPayload()/2) }

// message makes the message of a value, which may be JSON already; a large one goes to the object store first.
func (q *Queue) message(ctx context.Context, subject, key string, value any) (*nats.Msg, error) {
	data, raw := value.(json.RawMessage)
	if !raw {
		var err error
		if data, err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("jetstream: %w", err)
		}
	}
	msg := nats.NewMsg(subject)
	if len(data) > maxPayload {
		return nil, invalid(clichain.ReasonBadRequest, "messages",
			fmt.Sprintf("%d bytes: a job or result has at most %d", len(data), maxPayload))
	}
	if q.inline(len(data)) {
		msg.Data = data
		return msg, nil
	}
	name := key + "." + nuid.Next()
	if _, err := q.payloads.PutBytes(ctx, name, data); err != nil {
		return nil, fmt.Errorf("jetstream: store a payload of %d bytes: %w", len(data), err)
	}
	msg.Header.Set(payloadHeader, name)
	return msg, nil
}

// maxPayload bounds what one job or result may take in memory.
const maxPayload = 256 << 20

// errUnreadable is the error of read for what no later try could read.
var errUnreadable = errors.New("jetstream: a message of the queue cannot be read")

// read reads what message made.
func (q *Queue) read(ctx context.Context, header nats.Header, data []byte, value any) error {
	data, err := q.content(ctx, header, data)
	if err != nil {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(value); err != nil {
		return fmt.Errorf("%w: %v", errUnreadable, err)
	}
	return nil
}

// content is the JSON of a message: its data, or the object that it names.
func (q *Queue) content(ctx context.Context, header nats.Header, data []byte) ([]byte, error) {
	if name := header.Get(payloadHeader); name != "" {
		object, err := q.payloads.Get(ctx, name)
		if errors.Is(err, js.ErrObjectNotFound) {
			return nil, fmt.Errorf("%w: its payload is gone", errUnreadable)
		}
		if err != nil {
			return nil, fmt.Errorf("jetstream: payload %s: %w", name, err)
		}
		defer object.Close()
		if data, err = io.ReadAll(io.LimitReader(object, maxPayload)); err != nil {
			return nil, fmt.Errorf("jetstream: payload %s: %w", name, err)
		}
	}
	return data, nil
}

// discard removes the payload of a message that is not needed any more.
func (q *Queue) discard(ctx context.Context, header nats.Header) error {
	name := header.Get(payloadHeader)
	if name == "" {
		return nil
	}
	if err := q.payloads.Delete(ctx, name); err != nil && !errors.Is(err, js.ErrObjectNotFound) {
		return fmt.Errorf("jetstream: payload %s: %w", name, err)
	}
	return nil
}

// conflict reports whether a write failed because of what is there already.
func conflict(err error) bool {
	api, ok := errors.AsType[*js.APIError](err)
	return ok && api.ErrorCode == js.JSErrCodeStreamWrongLastSequence
}

// last is the last message on a subject; nil where there is none.
func last(ctx context.Context, s js.Stream, subject string) (*js.RawStreamMsg, error) {
	msg, err := s.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, js.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	return msg, nil
}

// remove takes one message out of a stream; that it is gone already is no error.
func remove(ctx context.Context, s js.Stream, sequence uint64) error {
	err := s.DeleteMsg(ctx, sequence)
	if errors.Is(err, js.ErrMsgDeleteUnsuccessful) { // the server says no more than that
		if _, err := s.GetMsg(ctx, sequence); errors.Is(err, js.ErrMsgNotFound) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	return nil
}

// protocol is the version of the jobs that this package writes, and the latest that its workers run. It grows
// whenever a job or a request gets a field, so that no worker runs a job that it knows only a part of.
const protocol = 2

// firstProtocol is the version of a job that names none.
const firstProtocol = 1

func (e *envelope) protocol() int { return max(e.Protocol, firstProtocol) }

// errNewer is the error of decode for a job that only a later version can run. The job's ID, Protocol and Priority are
// read.
var errNewer = errors.New("jetstream: the job needs a worker of a later version")

// decode reads a job. What this version does not know is no reason to fail the job, and none to run a part of it.
func (e *envelope) decode(data []byte, latest int) error {
	var label struct {
		ID       string   `json:"id"`
		Protocol int      `json:"protocol"`
		Priority Priority `json:"priority"`
	}
	if err := json.Unmarshal(data, &label); err != nil || label.ID == "" {
		return fmt.Errorf("%w: it is no job: %v", errUnreadable, err)
	}
	e.ID, e.Protocol, e.Priority = label.ID, label.Protocol, label.Priority
	if e.protocol() > latest {
		return fmt.Errorf("%w: protocol %d, and this worker has %d", errNewer, e.Protocol, latest)
	}
	var all envelope
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return fmt.Errorf("%w: %v", errNewer, err)
	}
	*e = all
	return nil
}

// handOn leaves a job that this worker does not know whole to workers of a later version: as it came, byte for byte.
func (w *worker) handOn(d *delivery) error {
	next := envelope{Job: Job{ID: d.ID, Priority: d.at}, Protocol: max(d.protocol(), w.protocol+1), raw: d.data}
	err := w.insist(func(ctx context.Context) error { return w.q.postpone(ctx, next, d.sequence, time.Time{}) })
	if err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	w.acknowledge(d)
	w.change()
	return nil
}

// content is what the queue keeps of the job: as it came, or as it is now.
func (e *envelope) content() any {
	if e.raw != nil {
		return e.raw
	}
	return e
}
