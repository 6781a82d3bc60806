package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// envelope is a job as the queue stores it.
type envelope struct {
	Job
	History []Delivery `json:"history,omitempty"`
	// Replaces is the sequence of the failed result that a retry replaces.
	Replaces uint64 `json:"replaces,omitempty"`
	// Protocol is the version of the client that wrote the job. Zero: 1.
	Protocol int `json:"protocol,omitempty"`
	// Refined and Again decide the class of the job; see classes.Needs.
	Refined bool   `json:"refined,omitempty"`
	Again   string `json:"again,omitempty"`

	raw json.RawMessage // the envelope as JSON, if encoded, or known only in part; may be nil
}

func (e *envelope) protocol() int { return max(e.Protocol, classes.FirstProtocol) }

// needs derives the needs of the job from its request.
func (e *envelope) needs() *classes.Needs {
	n := &classes.Needs{Protocol: e.protocol(), Again: e.Again}
	n.Add(&e.Request, e.Refined)
	return n
}

// class returns the class in which the job waits. Jobs of protocol 1 wait in the class of workers of protocol 1,
// until one refuses them.
func (e *envelope) class() string {
	if e.protocol() == classes.FirstProtocol && !e.Refined && e.Again == "" && e.Owner == "" {
		return classes.Ready
	}
	return e.needs().Class()
}

// belongTo sets the owner and the priority of a received job to those of its subject, which the server's permissions
// can limit. The job itself may have any text.
func (e *envelope) belongTo(g store.Group) {
	e.Owner = g.Owner
	switch p := Priority(g.Priority); {
	case !slices.Contains(priorities, p):
		e.Priority = PriorityLow // workers take no other priority
	case p != e.priority():
		e.Priority = p
	}
}

// route returns the class in which a job waits.
func (q *Queue) route(ctx context.Context, e *envelope) (class string, err error) {
	return q.consumers.Route(ctx, e.class(), e.group(), e.needs())
}

// stored returns the job for the store.
func (e *envelope) stored(class string) (j store.Job, err error) {
	j = store.Job{Group: e.group(), Class: class, Key: store.Key(e.ID), Data: e.raw}
	if e.raw == nil {
		if j.Data, err = json.Marshal(e); err != nil {
			return j, fmt.Errorf("jetstream: %w", err)
		}
	}
	return j, nil
}

// rawJob returns the job in raw, without the fields of the queue.
func (e *envelope) rawJob() json.RawMessage {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(e.raw, &fields) // decode has read it as an object
	for _, name := range []string{"history", "replaces", "protocol", "refined", "again"} {
		delete(fields, name)
	}
	job, _ := json.Marshal(fields) // cannot fail
	return job
}

// errNewer is the error of decode for a job that only a later version can run. The job's ID, Protocol,
// Priority and Replaces have been read.
var errNewer = errors.New("jetstream: the job needs a worker of a later version")

// decode reads a job. It fails with errNewer if the job has fields that this version does not know: the worker must
// neither fail the job nor run a part of it.
func (e *envelope) decode(data []byte, latest int) error {
	var label struct {
		ID       string   `json:"id"`
		Protocol int      `json:"protocol"`
		Priority Priority `json:"priority"`
		Replaces uint64   `json:"replaces"`
	}
	if err := json.Unmarshal(data, &label); err != nil || label.ID == "" {
		return fmt.Errorf("%w: it is not a job: %v", store.ErrUnreadable, err)
	}
	e.ID, e.Protocol, e.Priority, e.Replaces = label.ID, label.Protocol, label.Priority, label.Replaces
	if e.protocol() > latest {
		return fmt.Errorf("%w: it has protocol %d, and this worker has protocol %d", errNewer, e.Protocol, latest)
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
