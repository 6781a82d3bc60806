package jetstream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
)

// Status is the state of a queue at one moment. It is a plain value.
type Status struct {
	Name string `json:"name"`
	// Ready counts the jobs that wait for a worker, Running the jobs that workers run, and Parked the jobs that wait
	// for a time. That is the end of a pause after a failure, or the end of the cooldowns of all workers that could run
	// them.
	Ready   map[Priority]int `json:"ready"`
	Running int              `json:"running"`
	Parked  int              `json:"parked"`
	// NextDue is the earliest time that a job waits for. Zero: no job waits for a time.
	NextDue time.Time `json:"next_due,omitzero"`
	// Answers and Failures count the stored results. Backends counts the answers by backend, Reasons the failures by
	// reason, and Usage is their sum.
	Answers  int                     `json:"answers"`
	Failures int                     `json:"failures"`
	Backends map[string]int          `json:"backends,omitempty"`
	Reasons  map[clichain.Reason]int `json:"reasons,omitempty"`
	Usage    clichain.Usage          `json:"usage,omitzero"`
	// Owners are the owners of the counted jobs, sorted by Owner. Empty: no job has an owner.
	Owners  []OwnerStatus  `json:"owners,omitempty"`
	Workers []WorkerStatus `json:"workers,omitempty"`
	// Pauses are the current pauses: that of all jobs first, then those of owners.
	Pauses []Pause `json:"pauses,omitempty"`
	// Unmet are the jobs that no connected worker can take, submitted at least ten minutes ago.
	Unmet []Unmet `json:"unmet,omitempty"`
	// Cooldowns are the current cooldowns of the fleet; see OpenCooldowns.
	Cooldowns []Cooldown `json:"cooldowns,omitempty"`
	// JobBytes is how many bytes the jobs and large payloads take in the store. JobLimit is the number above which
	// Submit refuses jobs; 0 means that only the store limits them.
	JobBytes int64 `json:"job_bytes"`
	JobLimit int64 `json:"job_limit,omitempty"`
	// ResultBytes is how many bytes the results take, with large payloads; up to four fifths of ResultLimit, with the
	// large payloads of jobs too. Workers remove the oldest results above ResultLimit; 0 means that there is none. The
	// server removes results at ResultAge; in JSON it is in nanoseconds.
	ResultBytes int64         `json:"result_bytes"`
	ResultLimit int64         `json:"result_limit,omitempty"`
	ResultAge   time.Duration `json:"result_age,omitempty"`
	// Servers is the number of servers that store each job; 1 for a single server.
	Servers  int  `json:"servers"`
	Embedded bool `json:"embedded"` // the server is inside this process
	// Warnings name risks of losing jobs.
	Warnings []string `json:"warnings,omitempty"`
}

// Status returns the state of the queue. Its cost does not depend on the number of results: workers save their counts,
// and Status reads only the headers of later results. Without a worker since the results were stored, it reads the
// headers of all of them.
func (q *Queue) Status(ctx context.Context) (*Status, error) {
	s := &Status{
		Name: q.cfg.Name, Backends: map[string]int{}, Reasons: map[clichain.Reason]int{},
	}
	for _, step := range []func(context.Context, *Status) error{
		q.countJobs, q.countResults,
		func(ctx context.Context, s *Status) (err error) { s.Workers, err = q.workers(ctx); return err },
		q.addCooldowns, q.addClasses, q.addSpace,
		func(ctx context.Context, s *Status) error { return s.addLimits(ctx, q) },
	} {
		if err := step(ctx, s); err != nil {
			return nil, fmt.Errorf("jetstream: status of queue %s: %w", q.cfg.Name, err)
		}
	}
	if len(s.Owners) == 1 && s.Owners[0].Owner == "" {
		s.Owners = nil
	}
	return s, nil
}

// Depth is how many jobs a queue holds. It is a plain value.
type Depth struct {
	Ready   map[Priority]int // jobs that wait for a worker
	Running int              // jobs that workers run
	Parked  int              // jobs that wait for a time
	Failed  int              // dead letters
	Pauses  []Pause          // the current pauses
	// Oldest is the time at which the oldest of the jobs that wait for a worker was submitted. Zero: none waits.
	Oldest time.Time
}

// Depth counts the jobs. Its cost for the server does not depend on their number: it reads one job of each class.
func (q *Queue) Depth(ctx context.Context) (d Depth, err error) {
	if d, err = q.waitingDepth(ctx); err == nil {
		d.Failed, err = store.Counter{Store: q.store}.Failures(ctx)
	}
	return d, err
}

// waitingDepth is Depth without the dead letters.
func (q *Queue) waitingDepth(ctx context.Context) (d Depth, err error) {
	if err := q.consumers.Refresh(ctx); err != nil {
		return d, fmt.Errorf("jetstream: %w", err)
	}
	d.Ready = map[Priority]int{}
	rest := 0
	for _, c := range q.consumers.List() {
		info, err := c.Info(ctx)
		if err != nil {
			return d, fmt.Errorf("jetstream: %w", err)
		}
		d.Ready[Priority(c.Priority)] += int(info.NumPending)
		d.Running += info.NumAckPending
		rest += int(info.NumPending) + info.NumAckPending
		if info.NumPending == 0 {
			continue
		}
		since, err := q.firstSubmitted(ctx, c, info.Delivered.Stream)
		if err != nil {
			return d, fmt.Errorf("jetstream: %w", err)
		}
		if !since.IsZero() && (d.Oldest.IsZero() || since.Before(d.Oldest)) {
			d.Oldest = since
		}
	}
	info, err := q.store.Jobs.Info(ctx)
	if err != nil {
		return d, fmt.Errorf("jetstream: %w", err)
	}
	var pauses int
	if d.Pauses, pauses, err = NewOperator(q).pauses(ctx); err != nil {
		return d, err
	}
	d.Parked = max(int(info.State.Msgs)-rest-1-pauses, 0) // without the anchor and the pauses
	return d, nil
}

func (q *Queue) countJobs(ctx context.Context, s *Status) error {
	d, err := q.waitingDepth(ctx)
	if err != nil {
		return err
	}
	s.Ready, s.Running, s.Parked, s.Pauses = d.Ready, d.Running, d.Parked, d.Pauses
	if s.Parked > 0 {
		// The server counts a new job at its consumer a moment after it has stored it. Reading the jobs that have a
		// time keeps such a job from counting as parked.
		var scheduled int
		if scheduled, s.NextDue, err = q.scheduled(ctx); err != nil {
			return err
		}
		if scheduled < maxScheduled {
			s.Parked = scheduled
		}
	}
	s.countOwners(q.consumers.List())
	s.Embedded = q.store.Conn.Opts.InProcessServer != nil
	s.addServers(q.store.Jobs.CachedInfo()) // Depth has requested it
	return nil
}

// owner returns the status of an owner. It is valid until the next call.
func (s *Status) owner(name string) *OwnerStatus {
	at, found := slices.BinarySearchFunc(s.Owners, name, func(o OwnerStatus, name string) int {
		return strings.Compare(o.Owner, name)
	})
	if !found {
		s.Owners = slices.Insert(s.Owners, at, OwnerStatus{Owner: name})
	}
	return &s.Owners[at]
}

// countOwners adds the jobs of each owner. The consumers have just been asked.
func (s *Status) countOwners(consumers []*classes.Consumer) {
	for _, c := range consumers {
		if info := c.CachedInfo(); int(info.NumPending)+info.NumAckPending > 0 {
			o := s.owner(c.Owner)
			o.Waiting += int(info.NumPending)
			o.Running += info.NumAckPending
		}
	}
}

// addServers adds the servers, and a warning if they may lose jobs and a client can see that.
func (s *Status) addServers(info *js.StreamInfo) {
	s.Servers = info.Config.Replicas
	if s.Embedded {
		return
	}
	switch {
	case info.Cluster == nil || info.Cluster.Name == "":
		s.Warnings = append(s.Warnings,
			"the queue is on a single server: if it loses its data, jobs are lost; use a cluster of three servers")
	case info.Config.Replicas < 3:
		s.Warnings = append(s.Warnings, fmt.Sprintf(
			"the cluster stores each job on %d servers: give the streams 3 replicas", info.Config.Replicas))
	}
}

// maxScheduled bounds how many of the scheduled jobs are read.
const maxScheduled = 1000

// scheduled counts the jobs that wait for a time, up to maxScheduled, and finds the earliest time.
func (q *Queue) scheduled(ctx context.Context) (n int, first time.Time, err error) {
	for msg, err := range q.store.Scheduled(ctx) {
		if err != nil {
			return n, first, err
		}
		if at := store.Due(msg); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
		if n++; n == maxScheduled {
			break
		}
	}
	return n, first, nil
}

func (q *Queue) countResults(ctx context.Context, s *Status) error {
	counts, err := store.Counter{Store: q.store}.Counts(ctx)
	for _, c := range counts {
		if c.Reason != "" {
			s.Failures += c.Results
			s.Reasons[c.Reason] += c.Results
		} else {
			s.Answers += c.Results
			s.Backends[c.Backend] += c.Results
		}
		s.Usage = s.Usage.Add(c.Usage)
		s.owner(c.Owner).count(c)
	}
	return err
}

// addCooldowns adds the cooldowns of the fleet, if it shares any.
func (q *Queue) addCooldowns(ctx context.Context, s *Status) error {
	bucket := q.store.Bucket(ctx, cooldownBucket)
	if bucket == nil {
		return nil
	}
	keys, err := bucket.ListKeys(ctx)
	if err != nil {
		return err
	}
	for k := range keys.Keys() {
		if isQuotaKey(k) {
			continue
		}
		if c, ok := cooldownIn(ctx, bucket, k); ok && c.State.Until.After(time.Now()) {
			s.Cooldowns = append(s.Cooldowns, c)
		}
	}
	return nil
}

// nearly is the share of a limit from which Status warns.
const nearly = 0.8

// addSpace adds the bytes that the jobs and results take, and a warning if jobs may be refused or results may be lost.
func (q *Queue) addSpace(ctx context.Context, s *Status) (err error) {
	if s.JobBytes, s.JobLimit, err = q.store.Space(ctx); err != nil {
		return err
	}
	if s.JobLimit > 0 && float64(s.JobBytes) > nearly*float64(s.JobLimit) {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the jobs take %d of at most %d bytes: at the limit the queue refuses "+
			"jobs to keep space for results: start workers, remove dead letters, or raise %s",
			s.JobBytes, s.JobLimit, q.store.LimitName()))
	}
	results, err := q.store.ResultSpace(ctx, nearly)
	if err != nil {
		return err
	}
	s.ResultBytes, s.ResultLimit, s.ResultAge = results.Used, results.Limits.Bytes, results.Limits.Age
	if s.ResultLimit > 0 && float64(s.ResultBytes) > nearly*float64(s.ResultLimit) {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the results take %d of at most %d bytes: at the limit workers remove "+
			"the oldest: fetch and remove results, or raise the limit (MaxResultBytes; worker --max-result-bytes)",
			s.ResultBytes, s.ResultLimit))
	}
	for _, w := range s.Workers {
		if w.Unstored > 0 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("worker %s keeps %d %s that the server does not accept, and takes no "+
				"jobs until then: is the store full? Remove results, or raise max_file_store of the server",
				w.Name, w.Unstored, map[bool]string{true: "result", false: "results"}[w.Unstored == 1]))
		}
	}
	return nil
}
