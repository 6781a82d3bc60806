package jetstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
)

// Result is the outcome of a job: a Response or a Failure. It is a plain value that survives JSON.
type Result struct {
	ID string `json:"id"`
	// Owner is the owner of the job. Empty: none.
	Owner string `json:"owner,omitempty"`
	// Response is the answer; nil if the job failed.
	Response *clichain.Response `json:"response,omitempty"`
	// Failure says why the job failed; nil if it has an answer.
	Failure *Failure `json:"failure,omitempty"`
	// History has the deliveries before the last one, oldest first.
	History []Delivery `json:"history,omitempty"`
	// Worker is the name of the worker that finished the job, and Finished is the time.
	Worker   string    `json:"worker"`
	Finished time.Time `json:"finished"`
	// Job is the failed job, which Retry submits again. It is nil for an answer, and for a job of a later version,
	// which Retry submits unchanged.
	Job *Job `json:"job,omitempty"`
	// Raw is the message of a job that could not be read. Empty: it could be read.
	Raw []byte `json:"raw,omitempty"`
	// Sequence increases with each result of a queue; see Queue.Results.
	Sequence uint64 `json:"-"`

	job json.RawMessage // Job as stored
}

// Failure says why a job has no answer. It is a plain value that survives JSON.
type Failure struct {
	Reason  clichain.Reason `json:"reason"`
	Message string          `json:"message"`
	// SideEffects reports that the agent may have changed something. Such a job runs again only if a person retries
	// it.
	SideEffects bool `json:"side_effects,omitempty"`
	// Attempts are the attempts of the last run. Empty: there were none, or they are not known.
	Attempts []clichain.Attempt `json:"attempts,omitempty"`
}

// Delivery records that a worker received a job and did not finish it. It is a plain value that survives JSON.
type Delivery struct {
	// Worker is the name of the worker. Empty: not known, because it gave no sign.
	Worker string    `json:"worker,omitempty"`
	Ended  time.Time `json:"ended,omitzero"`
	// Reason and Message say why the job was not finished.
	Reason  clichain.Reason `json:"reason"`
	Message string          `json:"message,omitempty"`
	// Until is the time of the next delivery. Zero: at once.
	Until time.Time `json:"until,omitzero"`
	// Usage is the reported usage of the run.
	Usage clichain.Usage `json:"usage,omitzero"`
}

// again returns the job of a dead letter for another submission. A job of a later version is not read; a worker of
// that version gets it unchanged.
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
		e.ID, e.Owner, e.Protocol = r.ID, r.Owner, classes.Protocol+1
		e.raw = fmt.Appendf(nil, `{"protocol":%d,"replaces":%d,%s`, e.Protocol, e.Replaces, r.job[1:])
		return e, true
	}
	return e, false
}

// stored returns the result as JSON, with its job also if this version knows only a part of it.
func (r *Result) stored() ([]byte, error) {
	type plain Result
	if r.Job != nil || r.job == nil {
		return json.Marshal(r)
	}
	return json.Marshal(struct {
		*plain
		Job json.RawMessage `json:"job"`
	}{(*plain)(r), r.job})
}

// UnmarshalJSON reads a result. It leaves out the job if a later version wrote it and this version knows only a part
// of it.
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
