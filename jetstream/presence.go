package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
)

// WorkerStatus is the last report of a worker. It is a plain value.
type WorkerStatus struct {
	Name    string    `json:"name"`
	Slots   int       `json:"slots"`
	Running int       `json:"running"` // jobs that it runs
	Since   time.Time `json:"since"`
	Seen    time.Time `json:"seen"` // when it reported
	// RestingUntil is the time until which all its backends are in cooldown. Zero: at least one can answer.
	RestingUntil time.Time `json:"resting_until,omitzero"`
	// Version is the worker's version of clichain, Protocol the latest version of jobs that it runs, and Platform its
	// operating system and architecture. A worker that reports none of them has protocol 1.
	Version  string `json:"version,omitempty"`
	Protocol int    `json:"protocol,omitempty"`
	Platform string `json:"platform,omitempty"`
	// Backends are the names of its backends. Models are the models that jobs may name; empty means any. Access is
	// the highest access that jobs may have, and Dirs are the directories that they may work in.
	Backends []string        `json:"backends,omitempty"`
	Models   []string        `json:"models,omitempty"`
	Access   clichain.Access `json:"access,omitempty"`
	Dirs     []string        `json:"dirs,omitempty"`
	// Takes has the classes of jobs that the worker takes, and from when; the zero time means now. Refuses has the
	// other classes and the reasons. A class is a token for the needs of a job.
	Takes   map[string]time.Time `json:"takes,omitempty"`
	Refuses map[string]string    `json:"refuses,omitempty"`
	// Unstored is how many results the worker keeps because the server does not accept them.
	Unstored int `json:"unstored,omitempty"`
	// Alive reports whether the worker has reported lately.
	Alive bool `json:"alive"`
}

// heartbeat is how often a worker reports. silence is how long it may not report before it counts as ended.
const (
	heartbeat = 2 * time.Second
	silence   = 5 * heartbeat
)

// presence reports the state of a worker to the other clients of the queue.
type presence struct {
	bucket   js.KeyValue
	name     string // of the worker
	log      *slog.Logger
	describe func(ctx context.Context) WorkerStatus
	changed  chan struct{} // the state of the worker has changed
}

// run reports until ctx ends, and then that the worker has ended.
func (p *presence) run(ctx context.Context) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		p.report(ctx)
		select {
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeat)
			_ = p.bucket.Delete(end, store.Key(p.name)) // if this fails, the report expires
			cancel()
			return
		case <-p.changed:
		case <-tick.C:
		}
	}
}

// change makes run report at once.
func (p *presence) change() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *presence) report(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	data, err := json.Marshal(p.describe(ctx))
	if err == nil {
		_, err = p.bucket.Put(ctx, store.Key(p.name), data)
	}
	if err != nil && ctx.Err() == nil {
		p.log.DebugContext(ctx, "cannot report the state of the worker", "error", err)
	}
}

// isAlive reports whether a worker has reported lately. It returns true if the server does not answer.
func (q *Queue) isAlive(ctx context.Context, name string) bool {
	entry, err := q.store.Workers.Get(ctx, store.Key(name))
	if errors.Is(err, js.ErrKeyNotFound) {
		return false
	}
	return err != nil || time.Since(entry.Created()) < silence
}

// workers returns the latest report of each worker.
func (q *Queue) workers(ctx context.Context) (list []WorkerStatus, err error) {
	keys, err := q.store.Workers.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	for k := range keys.Keys() {
		entry, err := q.store.Workers.Get(ctx, k)
		if err != nil {
			continue // it has ended in the meantime
		}
		var s WorkerStatus
		if json.Unmarshal(entry.Value(), &s) == nil {
			s.Alive = time.Since(entry.Created()) < silence
			list = append(list, s)
		}
	}
	return list, nil
}

// version returns the version of this module in the program.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if strings.HasPrefix("github.com/clichain/clichain/jetstream", m.Path) && m.Path != "" {
			return m.Version
		}
	}
	return info.Main.Version
})
