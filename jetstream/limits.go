package jetstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Limits are the limits of the owners of a queue. The zero value limits nothing. It is a plain value that survives
// JSON. [Queue.SetLimits] stores it for all clients.
type Limits struct {
	// Default has the limits of each owner that is not in Owners. The jobs without an owner count as those of one owner.
	Default OwnerLimits `json:"default,omitzero"`
	// Owners has the limits of named owners, which replace all of Default. The key "" means the jobs without an owner.
	Owners map[string]OwnerLimits `json:"owners,omitempty"`
}

// OwnerLimits are the limits of one owner. Zero values limit nothing. It is a plain value.
type OwnerLimits struct {
	// Running is how many jobs of the owner may run at the same time, on all workers. Maximum: 10 000.
	Running int `json:"running,omitempty"`
	// Queued is how many jobs of the owner may be in the queue without a result: waiting, running or parked.
	Queued int `json:"queued,omitempty"`
	// CostUSD and Tokens limit the reported cost and the reported input and output tokens of a day in UTC. Jobs that run
	// when a limit is reached may exceed it. The other jobs wait until the next day.
	CostUSD float64 `json:"cost_usd_per_day,omitempty"`
	Tokens  int64   `json:"tokens_per_day,omitempty"`
	// Priority is the highest priority that the owner may use. Empty: high.
	Priority Priority `json:"max_priority,omitempty"`
}

const (
	maxRunning = 10_000
	maxLimits  = 512 << 10 // bytes as JSON
	maxCostUSD = 1e9
)

// daily reports whether the use of each day is limited.
func (l OwnerLimits) daily() bool { return l.CostUSD > 0 || l.Tokens > 0 }

// highest returns the priority that counts for a job with the priority p.
func (l OwnerLimits) highest(p Priority) Priority {
	if l.Priority == "" || slices.Index(priorities, p) > slices.Index(priorities, l.Priority) {
		return p
	}
	return l.Priority
}

func (l OwnerLimits) validate() error {
	switch {
	case l.Running < 0 || l.Running > maxRunning:
		return fmt.Errorf("running: %d: use 1 to %d, or 0 for no limit", l.Running, maxRunning)
	case l.Queued < 0:
		return fmt.Errorf("queued: %d: use 1 or more, or 0 for no limit", l.Queued)
	case l.CostUSD != 0 && !(l.CostUSD >= 0.01 && l.CostUSD <= maxCostUSD): // also NaN
		return fmt.Errorf("cost_usd_per_day: %v: use 0.01 to %v, or 0 for no limit", l.CostUSD, maxCostUSD)
	case l.Tokens < 0:
		return fmt.Errorf("tokens_per_day: %d: use 1 or more, or 0 for no limit", l.Tokens)
	case l.Priority != "" && !slices.Contains(priorities, l.Priority):
		return fmt.Errorf("max_priority: %q is none of %q", l.Priority, priorities)
	}
	return nil
}

// Of returns the limits of an owner.
func (l *Limits) Of(owner string) OwnerLimits {
	if own, ok := l.Owners[owner]; ok {
		return own
	}
	return l.Default
}

// Validate returns an error that names the first invalid field.
func (l *Limits) Validate() error {
	if err := l.Default.validate(); err != nil {
		return fmt.Errorf("default: %w", err)
	}
	for _, owner := range slices.Sorted(maps.Keys(l.Owners)) {
		if owner != "" && !ValidOwner(owner) {
			return fmt.Errorf("owners: %.100q cannot be an owner", owner)
		}
		if err := l.Owners[owner].validate(); err != nil {
			return fmt.Errorf("owners: %q: %w", owner, err)
		}
	}
	return nil
}

// parseLimits reads limits strictly: a worker that does not know a limit must not ignore it.
func parseLimits(data []byte) (*Limits, error) {
	l := new(Limits)
	if data == nil {
		return l, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return nil, fmt.Errorf("jetstream: the limits of the owners need a later version: %w", err)
	}
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("jetstream: the limits of the owners: %w", err)
	}
	return l, nil
}

// Limits returns the limits of the owners as they are stored. Without stored limits, they limit nothing.
func (q *Queue) Limits(ctx context.Context) (*Limits, error) {
	data, err := q.owners.LoadLimits(ctx)
	if err != nil {
		return nil, err
	}
	return parseLimits(data)
}

// SetLimits replaces the limits of all owners at once. The workers and submitters of the queue use the new limits
// within a second, without a restart. Running jobs continue. Only operators should have the permission to publish to
// the subject clichain.NAME.limits of the server. The error is that of Validate for invalid limits.
func (q *Queue) SetLimits(ctx context.Context, l *Limits) error {
	if err := l.Validate(); err != nil {
		return fmt.Errorf("jetstream: limits: %w", err)
	}
	data, err := json.Marshal(l)
	if err == nil && len(data) > maxLimits {
		err = fmt.Errorf("limits of %d owners: %d bytes: use at most %d", len(l.Owners), len(data), maxLimits)
	}
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	return q.owners.SaveLimits(ctx, data, q.consumers.AckWait)
}

// LimitError is the error of Submit for a job that a limit of its owner refuses. It is a plain value.
type LimitError struct {
	Owner string // empty: the jobs without an owner
	// Queued and MaxQueued are the jobs of the owner in the queue, and their limit. Zero: MaxPriority is the limit.
	Queued, MaxQueued int
	// Priority is that of the job, and MaxPriority the highest one that the owner may use.
	Priority, MaxPriority Priority
}

// Error names the owner and the limit.
func (e *LimitError) Error() string {
	if e.MaxQueued > 0 {
		return fmt.Sprintf("jetstream: %s has %d jobs in the queue, and may have %d: submit the job after workers have "+
			"answered some, or ask the operator to raise the limit", ownerText(e.Owner), e.Queued, e.MaxQueued)
	}
	return fmt.Sprintf("jetstream: %s may not use the priority %s: use at most %s, or ask the operator to allow it",
		ownerText(e.Owner), e.Priority, e.MaxPriority)
}

func ownerText(owner string) string {
	return cmp.Or(owner, "(no owner)")
}

// admit checks a new job against the limits of its owner. It gives a job without a priority the highest allowed one, at
// most normal.
func (j *Job) admit(ctx context.Context, q *Queue) error {
	all, err := q.limits.get(ctx, q.Limits)
	if err != nil {
		return err
	}
	l := all.Of(j.Owner)
	highest := l.highest(j.priority())
	if j.Priority != "" && highest != j.Priority {
		return &LimitError{Owner: j.Owner, Priority: j.Priority, MaxPriority: highest}
	}
	if highest != PriorityNormal {
		j.Priority = highest
	}
	if l.Queued == 0 || q.queued.admit(j.Owner, l.Queued) {
		return nil
	}
	n, err := q.owners.CountJobs(ctx, j.Owner, priorityNames())
	if err != nil {
		return err
	}
	if q.queued.set(j.Owner, n); !q.queued.admit(j.Owner, l.Queued) {
		return &LimitError{Owner: j.Owner, Queued: n, MaxQueued: l.Queued}
	}
	return nil
}

// microUSD returns dollars as a whole number of millionths.
func microUSD(usd float64) int64 { return int64(math.Round(usd * 1e6)) }
