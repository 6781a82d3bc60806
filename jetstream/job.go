package jetstream

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// Priority decides which jobs are taken first: workers take no job while one of a higher priority waits. The zero
// value means PriorityNormal.
type Priority string

// Priorities of jobs.
const (
	PriorityHigh   Priority = "high"
	PriorityNormal Priority = "normal"
	PriorityLow    Priority = "low"
)

// priorities are in the order in which workers take jobs.
var priorities = []Priority{PriorityHigh, PriorityNormal, PriorityLow}

func priorityNames() (names []string) {
	for _, p := range priorities {
		names = append(names, string(p))
	}
	return names
}

// Job is a request that waits for a worker. It is a plain value that survives JSON. ID and Request are required.
type Job struct {
	// ID names the job and its result within the queue: valid UTF-8, 1 to 512 bytes.
	ID string `json:"id"`
	// Priority is the job's priority. Empty: normal.
	Priority Priority `json:"priority,omitempty"`
	// Owner is the user or team that the job belongs to. Owners take turns, so that the jobs of one owner do not delay
	// those of another. It has 1 to 63 characters: a-z, 0-9, "-" and "_", the first a letter or a digit. Empty: none;
	// all jobs without an owner take turns together. See [ValidOwner].
	Owner string `json:"owner,omitempty"`
	// Deadline is the time after which the result is useless. The job then fails with timeout, whether it waits or
	// runs. Zero: none.
	Deadline time.Time `json:"deadline,omitzero"`
	// Idempotent allows the job to run twice, although its access lets the agent change something.
	Idempotent bool `json:"idempotent,omitempty"`
	// Request is the request. Its Dir, files and session are on the worker's machine.
	Request clichain.Request `json:"request"`
	// Trace is the trace context in which the job was submitted, as W3C headers by name. Empty: none.
	Trace map[string]string `json:"trace,omitempty"`
	// Submitted is the time at which the queue accepted the job. Submit sets it.
	Submitted time.Time `json:"submitted,omitzero"`
}

const maxID = 512

// Validate returns nil for a valid job, else a [*clichain.BackendError] with the reason bad_request or bad_option
// that names the field.
func (j *Job) Validate() error {
	switch {
	case j.ID == "" || len(j.ID) > maxID || !utf8.ValidString(j.ID):
		return invalid(clichain.ReasonBadOption, "id",
			fmt.Sprintf("%d bytes: a job has an id of 1 to %d bytes of UTF-8", len(j.ID), maxID))
	case j.Priority != "" && !slices.Contains(priorities, j.Priority):
		return invalid(clichain.ReasonBadOption, "priority", fmt.Sprintf("%q is none of %q", j.Priority, priorities))
	case j.Owner != "" && !ValidOwner(j.Owner):
		return invalid(clichain.ReasonBadOption, "owner", fmt.Sprintf("%.100q: an owner has 1 to 63 characters: "+
			`a-z, 0-9, "-" and "_", the first a letter or a digit`, j.Owner))
	case len(j.Request.Messages) == 0:
		return invalid(clichain.ReasonBadRequest, "messages", "add at least one message with the role user")
	}
	return nil
}

func invalid(reason clichain.Reason, field, message string) error {
	return &clichain.BackendError{Reason: reason, Option: field, Message: message, ExitCode: -1}
}

// mayAct reports whether a second run could do harm.
func (j *Job) mayAct() bool { return j.Request.Access >= clichain.AccessWrite && !j.Idempotent }

// isolable reports whether all changes of the job stay in the private copy of an isolated worker.
func (j *Job) isolable() bool {
	return j.Request.Access == clichain.AccessWrite && len(j.Request.Options.MCPConfig) == 0
}

func (j *Job) priority() Priority { return cmp.Or(j.Priority, PriorityNormal) }

func (j *Job) group() store.Group { return store.Group{Priority: string(j.priority()), Owner: j.Owner} }

// ValidOwner reports whether a text can be the Owner of a job.
func ValidOwner(text string) bool { return store.ValidOwner(text) }

// ErrExists is the error of Submit for a job whose ID is already in the queue or has a result.
var ErrExists = store.ErrExists

// ErrFull is the error of Submit for a job that the store has no space for: the queue reserves the rest of the store
// for results. The text names the limit.
var ErrFull = store.ErrFull

// ErrPending is the error of Result for a job that waits or runs.
var ErrPending = errors.New("jetstream: the job has no result yet")

// ErrNotFound is the error for an unknown ID.
var ErrNotFound = errors.New("jetstream: there is no such job")
