package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/clichain/clichain"
	js "github.com/nats-io/nats.go/jetstream"
)

// Status is what a queue holds at a moment. A plain value.
type Status struct {
	Name string `json:"name"`
	// Ready has the jobs that wait for a worker, Running those that workers have, and
	// Parked those that wait for a time: the end of a pause after a failure, or that of
	// the cooldowns of each worker that could take them.
	Ready   map[Priority]int `json:"ready"`
	Running int              `json:"running"`
	Parked  int              `json:"parked"`
	// NextDue is the first of the times that jobs wait for. Zero: none does.
	NextDue time.Time `json:"next_due,omitzero"`
	// Answers and Failures are the results that are kept; Backends and Reasons count
	// them by who answered and by why not, and Usage is what they consumed.
	Answers  int                     `json:"answers"`
	Failures int                     `json:"failures"`
	Backends map[string]int          `json:"backends,omitempty"`
	Reasons  map[clichain.Reason]int `json:"reasons,omitempty"`
	Usage    clichain.Usage          `json:"usage,omitzero"`
	Workers  []WorkerStatus          `json:"workers,omitempty"`
	// Unmet are the jobs that were submitted ten minutes ago or earlier, and that no connected worker can take.
	Unmet []Unmet `json:"unmet,omitempty"`
	// Cooldowns are those of the fleet that have not ended; see OpenCooldowns.
	Cooldowns []Cooldown `json:"cooldowns,omitempty"`
	// JobBytes is what the jobs and large payloads take in the store, and JobLimit what
	// they may take before Submit refuses more. A JobLimit of 0: only the store has one.
	JobBytes int64 `json:"job_bytes"`
	JobLimit int64 `json:"job_limit,omitempty"`
	// Servers is on how many of a cluster's servers each job is; 1 for a single one.
	Servers  int  `json:"servers"`
	Embedded bool `json:"embedded"` // the server is inside this process
	// Warnings say what may lose jobs.
	Warnings []string `json:"warnings,omitempty"`
}

// Status says how the queue is. It reads a header of every result that is kept, and
// takes about a second for 100 000 of them.
func (q *Queue) Status(ctx context.Context) (*Status, error) {
	s := &Status{
		Name: q.cfg.Name, Backends: map[string]int{}, Reasons: map[clichain.Reason]int{},
	}
	for _, step := range []func(context.Context, *Status) error{
		q.countJobs, q.countResults, q.tellFleet, q.tellClasses, q.tellRoom,
	} {
		if err := step(ctx, s); err != nil {
			return nil, fmt.Errorf("jetstream: status of queue %s: %w", q.cfg.Name, err)
		}
	}
	return s, nil
}

// Depth is how many jobs a queue holds. A plain value.
type Depth struct {
	Ready   map[Priority]int // that wait for a worker
	Running int              // that workers have
	Parked  int              // that wait for a time
	Failed  int              // dead letters
}

// Depth counts the jobs. It costs the server little, whatever they are.
func (q *Queue) Depth(ctx context.Context) (d Depth, err error) {
	if err := q.look(ctx); err != nil {
		return d, fmt.Errorf("jetstream: %w", err)
	}
	d.Ready = map[Priority]int{}
	rest := 0
	for _, t := range q.takers.list() {
		info, err := t.Info(ctx)
		if err != nil {
			return d, fmt.Errorf("jetstream: %w", err)
		}
		d.Ready[t.priority] += int(info.NumPending)
		d.Running += info.NumAckPending
		rest += int(info.NumPending) + info.NumAckPending
	}
	info, err := q.jobs.Info(ctx)
	if err != nil {
		return d, fmt.Errorf("jetstream: %w", err)
	}
	d.Parked = max(int(info.State.Msgs)-rest-1, 0) // the anchor
	d.Failed, err = q.count(ctx, q.failed("*"))
	return d, err
}

// count counts the results on a subject.
func (q *Queue) count(ctx context.Context, subject string) (int, error) {
	c, err := q.results.OrderedConsumer(ctx, js.OrderedConsumerConfig{
		FilterSubjects: []string{subject}, HeadersOnly: true,
	})
	if err != nil {
		return 0, fmt.Errorf("jetstream: %w", err)
	}
	info := c.CachedInfo()
	// A consumer that nobody reads from goes by itself; this one need not wait for it.
	_ = q.results.DeleteConsumer(ctx, info.Name)
	return int(info.NumPending), nil
}

func (q *Queue) countJobs(ctx context.Context, s *Status) error {
	d, err := q.Depth(ctx)
	if err != nil {
		return err
	}
	s.Ready, s.Running, s.Parked = d.Ready, d.Running, d.Parked
	if s.Parked > 0 {
		if err := q.findDue(ctx, s); err != nil {
			return err
		}
	}
	q.tellServers(q.jobs.CachedInfo(), s) // Depth has asked for it
	return nil
}

// tellServers tells what of the servers may lose jobs, as far as a client can see.
func (q *Queue) tellServers(info *js.StreamInfo, s *Status) {
	s.Servers = info.Config.Replicas
	s.Embedded = q.nc.Opts.InProcessServer != nil
	if s.Embedded {
		return
	}
	switch {
	case info.Cluster == nil || info.Cluster.Name == "":
		s.Warnings = append(s.Warnings, "the queue is on one server alone: what that loses is lost; use a cluster of three")
	case info.Config.Replicas < 3:
		s.Warnings = append(s.Warnings, fmt.Sprintf(
			"each job is on %d of the cluster's servers: give the streams 3 replicas", info.Config.Replicas))
	}
}

// maxLook bounds how many of the jobs that wait for a time are looked at.
const maxLook = 1000

// findDue finds the first of the times that jobs wait for.
func (q *Queue) findDue(ctx context.Context, s *Status) error {
	sequence := uint64(1)
	for range maxLook {
		msg, err := q.jobs.GetMsg(ctx, sequence, js.WithGetMsgSubject(q.subject("job.later.>")))
		if errors.Is(err, js.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if at := dueOf(msg); !at.IsZero() && (s.NextDue.IsZero() || at.Before(s.NextDue)) {
			s.NextDue = at
		}
		sequence = msg.Sequence + 1
	}
	return nil
}

func (q *Queue) countResults(ctx context.Context, s *Status) (err error) {
	look := scan{filter: q.subject("result.>"), headersOnly: true}
	q.scan(ctx, look, func(m js.Msg, _ uint64) bool {
		h := m.Headers()
		if reason := h.Get(reasonHeader); reason != "" {
			s.Failures++
			s.Reasons[clichain.Reason(reason)]++
		} else {
			s.Answers++
			s.Backends[h.Get(backendHeader)]++
		}
		var used clichain.Usage
		used.InputTokens, _ = strconv.ParseInt(h.Get(inputHeader), 10, 64) // a header that is missing counts nothing
		used.OutputTokens, _ = strconv.ParseInt(h.Get(outputHeader), 10, 64)
		if cost, err := strconv.ParseFloat(h.Get(costHeader), 64); err == nil {
			used.CostUSD = &cost
		}
		s.Usage = s.Usage.Add(used)
		return true
	}, func(failure error) { err = failure })
	return err
}

// tellFleet tells of the workers and what they share.
func (q *Queue) tellFleet(ctx context.Context, s *Status) (err error) {
	if s.Workers, err = q.workerList(ctx); err != nil {
		return err
	}
	bucket, err := q.js.KeyValue(ctx, cooldownBucket)
	if err != nil {
		return nil // nobody shares any
	}
	keys, err := bucket.ListKeys(ctx)
	if err != nil {
		return err
	}
	for k := range keys.Keys() {
		if c, ok := cooldownIn(ctx, bucket, k); ok && c.State.Until.After(time.Now()) {
			s.Cooldowns = append(s.Cooldowns, c)
		}
	}
	return nil
}
