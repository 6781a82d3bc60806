package jetstream

import (
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// AnyOwner is the OwnerStatus.Owner of jobs that share a consumer because the queue has too many owners. These jobs
// take turns together.
const AnyOwner = store.AnyOwner

// OwnerStatus counts the jobs and the stored results of one owner. It is a plain value.
type OwnerStatus struct {
	// Owner is the Owner of the jobs. Empty: the jobs without an owner. AnyOwner: jobs of several owners.
	Owner string `json:"owner"`
	// Waiting counts the jobs that wait for a worker, and Running the jobs that workers run. Jobs that wait for a retry
	// after a failure are not counted.
	Waiting int `json:"waiting"`
	Running int `json:"running"`
	// Answers and Failures count the stored results, and Usage is their sum.
	Answers  int            `json:"answers"`
	Failures int            `json:"failures"`
	Usage    clichain.Usage `json:"usage,omitzero"`
	// Limits are the limits of the owner, and Today is what it has used on this day in UTC. Today is counted only while
	// the use of a day is limited.
	Limits OwnerLimits `json:"limits,omitzero"`
	Today  OwnerUse    `json:"today,omitzero"`
	// Until is the end of the day that is used up; until then no job of the owner starts. Zero: the day is not used up.
	Until time.Time `json:"until,omitzero"`
}

// OwnerUse is the reported usage of the jobs of an owner on one day. It is a plain value.
type OwnerUse struct {
	CostUSD float64 `json:"cost_usd"`
	Tokens  int64   `json:"tokens"` // input and output
}

// count adds results to an owner.
func (o *OwnerStatus) count(c store.Count) {
	if c.Reason != "" {
		o.Failures += c.Results
	} else {
		o.Answers += c.Results
	}
	o.Usage = o.Usage.Add(c.Usage)
}
