package queue

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// monitor observes the jobs of a worker and logs their results. It never logs prompts, answers, or the output of a CLI,
// which may quote both.
type monitor struct {
	log       *slog.Logger
	draining  func() bool
	connected func() bool

	mu      sync.Mutex
	state   workerState
	started map[string]time.Time // start times of running jobs, by id
	chain   *clichain.Chain      // nil before it takes jobs
}

// workerState is the state of a worker.
type workerState struct {
	Name    string `json:"name"`
	Slots   int    `json:"slots"`
	Running int    `json:"running"`
	Done    int    `json:"done"`   // answered jobs
	Failed  int    `json:"failed"` // permanently failed jobs
	Parked  int    `json:"parked"` // number of times that a job was returned
	// RestingUntil is the end of the first cooldown if all backends are in cooldown, else zero.
	RestingUntil time.Time `json:"resting_until,omitzero"`
	// Paused is the pause of the queue; nil if there is none.
	Paused    *jetstream.Pause `json:"paused,omitempty"`
	Connected bool             `json:"connected"`
	Draining  bool             `json:"draining"`
}

// newMonitor makes the monitor of a worker that drains when ctx ends.
func newMonitor(ctx context.Context, name string, slots int, log *slog.Logger, connected func() bool) *monitor {
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "worker"
		}
		name = fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:6]) // containers may share host name and process id
	}
	return &monitor{
		log: log, draining: func() bool { return ctx.Err() != nil }, connected: connected,
		state: workerState{Name: name, Slots: slots}, started: map[string]time.Time{},
	}
}

// status returns the current state.
func (w *monitor) status() workerState {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state
	s.Running = len(w.started)
	s.Connected, s.Draining = w.connected(), w.draining()
	if time.Now().After(s.RestingUntil) {
		s.RestingUntil = time.Time{}
	}
	return s
}

// config returns the configuration of a worker that reports to the monitor.
func (w *monitor) config(grace time.Duration) *jetstream.WorkConfig {
	return &jetstream.WorkConfig{
		Slots: w.state.Slots, Name: w.state.Name, Grace: grace, Logger: w.log,
		OnStart: w.start, OnPark: w.park, OnResult: w.result, OnEnd: w.end, OnRest: w.rest, OnPause: w.pause,
	}
}

func (w *monitor) start(job *jetstream.Job) {
	w.mu.Lock()
	w.started[job.ID] = time.Now()
	w.mu.Unlock()
	w.log.Info("job started", "id", job.ID)
}

// ended increments counter and returns the duration of the job, or 0 if it never started.
func (w *monitor) ended(id string, counter *int) (took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*counter++
	if began, ok := w.started[id]; ok {
		took = time.Since(began).Round(time.Millisecond)
	}
	return took
}

func (w *monitor) end(job *jetstream.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.started, job.ID)
}

func (w *monitor) park(job *jetstream.Job, d jetstream.Delivery) {
	took := w.ended(job.ID, &w.state.Parked)
	until := "at once"
	if !d.Until.IsZero() {
		until = d.Until.Format(time.RFC3339)
	}
	w.log.Info("job parked", "id", job.ID, "reason", d.Reason, "until", until, "duration", took)
}

func (w *monitor) result(r *jetstream.Result) {
	if r.Failure != nil {
		took := w.ended(r.ID, &w.state.Failed)
		w.log.Warn("job failed", "id", r.ID, "reason", r.Failure.Reason, "side_effects", r.Failure.SideEffects,
			"duration", took)
		return
	}
	took := w.ended(r.ID, &w.state.Done)
	w.log.Info("job answered", "id", r.ID, "backend", r.Response.Backend, "duration", took)
}

func (w *monitor) rest(until time.Time) {
	w.mu.Lock()
	w.state.RestingUntil = until
	w.mu.Unlock()
	w.log.Info("no work: every backend is in cooldown or reserved", "until", until.Format(time.RFC3339))
}

// pause logs a pause of the queue once, and its end.
func (w *monitor) pause(p *jetstream.Pause) {
	w.mu.Lock()
	w.state.Paused = p
	w.mu.Unlock()
	if p == nil {
		w.log.Info("the queue is resumed")
		return
	}
	w.log.Info("the queue is paused: no jobs are taken", "until", endOf(p))
}

// endOf returns when a pause ends, as text.
func endOf(p *jetstream.Pause) string {
	if p.Until.IsZero() {
		return "resume"
	}
	return p.Until.Format(time.RFC3339)
}
