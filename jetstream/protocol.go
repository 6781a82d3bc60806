package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

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

// again is the job of a dead letter, to be submitted again. One that a later version wrote is not read, and goes to a
// worker of such a version with all that is in it.
func (r *Result) again(now time.Time) (e envelope, ok bool) {
	e = envelope{Replaces: r.Sequence, Protocol: protocol}
	switch {
	case r.Job != nil:
		e.Job = *r.Job
		e.Submitted = now.UTC()
		if e.Deadline.Before(e.Submitted) {
			e.Deadline = time.Time{}
		}
		return e, true
	case len(r.job) > 2: // not {}
		e.ID, e.Protocol = r.ID, protocol+1
		e.raw = fmt.Appendf(nil, `{"protocol":%d,"replaces":%d,%s`, e.Protocol, e.Replaces, r.job[1:])
		return e, true
	}
	return e, false
}

// UnmarshalJSON reads a result. A job that a later version wrote, of which this one knows only a part, is left out.
func (r *Result) UnmarshalJSON(data []byte) error {
	type plain Result
	var read struct {
		*plain
		Job json.RawMessage `json:"job"`
	}
	read.plain = (*plain)(r)
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	r.Job, r.job = nil, nil
	if len(read.Job) == 0 || string(read.Job) == "null" {
		return nil
	}
	r.job = bytes.Clone(read.Job)
	var job Job
	d := json.NewDecoder(bytes.NewReader(read.Job))
	d.DisallowUnknownFields()
	if d.Decode(&job) == nil {
		r.Job = &job
	}
	return nil
}
