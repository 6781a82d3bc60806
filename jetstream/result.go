package jetstream

import (
	"encoding/json"
	"time"

	"github.com/clichain/clichain"
)

// Result is what came of a job: a Response or a Failure. It is a plain value that
// survives JSON.
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
	// Job is the job of a failure, which Retry submits again; nil for an answer, and for
	// a job that a later version wrote, which Retry submits as it is.
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
	// SideEffects: the agent may have changed something. Such a job is not run again
	// unless a person says so.
	SideEffects bool `json:"side_effects,omitempty"`
	// Attempts are those of the last run. Empty: there was none, or it is not known.
	Attempts []clichain.Attempt `json:"attempts,omitempty"`
}

// Delivery is one time that a job was given to a worker and not finished. A plain
// value that survives JSON.
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
