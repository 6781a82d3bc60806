package jetstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
)

// Result is what came of a job: a Response or a Failure. It is a plain value that survives JSON.
type Result struct {
	ID string `json:"id"`
	// Response is the answer; nil for a job that failed.
	Response *clichain.Response `json:"response,omitempty"`
	// Failure says why there is none; nil for an answer.
	Failure *Failure `json:"failure,omitempty"`
	// History has the deliveries before the last, oldest first.
	History []Delivery `json:"history,omitempty"`
	// Worker is the name of the worker that finished the job, and Finished when.
	Worker   string    `json:"worker"`
	Finished time.Time `json:"finished"`
	// Job is the job of a failure, which Retry submits again; nil for an answer, and for a job that a later version
	// wrote, which Retry submits as it is.
	Job *Job `json:"job,omitempty"`
	// Raw is the message of a job that could not be read at all. Empty: it could.
	Raw []byte `json:"raw,omitempty"`
	// Sequence grows with each result of a queue; see Queue.Results.
	Sequence uint64 `json:"-"`

	job json.RawMessage // Job as the queue keeps it
}

// Failure says why a job has no answer. A plain value that survives JSON.
type Failure struct {
	Reason  clichain.Reason `json:"reason"`
	Message string          `json:"message"`
	// SideEffects: the agent may have changed something. Such a job is not run again unless a person says so.
	SideEffects bool `json:"side_effects,omitempty"`
	// Attempts are those of the last run. Empty: there was none, or it is not known.
	Attempts []clichain.Attempt `json:"attempts,omitempty"`
}

// Delivery is one time that a job was given to a worker and not finished. A plain value that survives JSON.
type Delivery struct {
	// Worker is who had it. Empty: not known, because it gave no sign.
	Worker string    `json:"worker,omitempty"`
	Ended  time.Time `json:"ended,omitzero"`
	// Reason and Message say why it was not finished.
	Reason  clichain.Reason `json:"reason"`
	Message string          `json:"message,omitempty"`
	// Until is when it was to be delivered again. Zero: at once.
	Until time.Time `json:"until,omitzero"`
	// Usage is what the run consumed, as far as it was reported.
	Usage clichain.Usage `json:"usage,omitzero"`
}

// again is the job of a dead letter, to be submitted again. One that a later version wrote is not read, and goes to a
// worker of such a version with all that is in it.
func (r *Result) again(now time.Time) (e envelope, ok bool) {
	e = envelope{Replaces: r.Sequence, Protocol: classes.Protocol}
	switch {
	case r.Job != nil:
		e.Job = *r.Job
		e.Submitted = now.UTC()
		if e.Deadline.Before(e.Submitted) {
			e.Deadline = time.Time{}
		}
		return e, true
	case len(r.job) > 2: // not {}
		e.ID, e.Protocol = r.ID, classes.Protocol+1
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
