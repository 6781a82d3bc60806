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

// WorkerStatus is what a worker has last said of itself. A plain value.
type WorkerStatus struct {
	Name    string    `json:"name"`
	Slots   int       `json:"slots"`
	Running int       `json:"running"` // jobs that it has
	Since   time.Time `json:"since"`
	Seen    time.Time `json:"seen"` // when it said so
	// RestingUntil is until when none of its backends could answer. Zero: one could.
	RestingUntil time.Time `json:"resting_until,omitzero"`
	// Version is that of clichain in the worker, Protocol the latest version of jobs that it runs, and Platform its
	// operating system and architecture. A worker that says none of it has protocol 1.
	Version  string `json:"version,omitempty"`
	Protocol int    `json:"protocol,omitempty"`
	Platform string `json:"platform,omitempty"`
	// Backends are its backends by name, and Models the models that jobs may name; none: any. Access is the most that
	// jobs may have, and Dirs are the directories that they may work in.
	Backends []string        `json:"backends,omitempty"`
	Models   []string        `json:"models,omitempty"`
	Access   clichain.Access `json:"access,omitempty"`
	Dirs     []string        `json:"dirs,omitempty"`
	// Takes has the classes of jobs that it takes, and from when on: the zero time means now. Refuses has the others,
	// and why. A class is a token for the needs of a job.
	Takes   map[string]time.Time `json:"takes,omitempty"`
	Refuses map[string]string    `json:"refuses,omitempty"`
	// Unstored is how many results it keeps that the server does not take.
	Unstored int `json:"unstored,omitempty"`
	// Alive: it has given a sign lately.
	Alive bool `json:"alive"`
}

// heartbeat is how often a worker reports, and silence after how long without a report it counts as ended.
const (
	heartbeat = 2 * time.Second
	silence   = 5 * heartbeat
)

// presence reports what a worker can do to the other clients of the queue.
type presence struct {
	bucket   js.KeyValue
	name     string // of the worker
	log      *slog.Logger
	describe func(ctx context.Context) WorkerStatus
	changed  chan struct{} // what the worker can do has changed
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
			_ = p.bucket.Delete(end, store.Key(p.name)) // else the others find out when no report comes
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
		p.log.DebugContext(ctx, "the worker cannot give a sign", "error", err)
	}
}

// isAlive reports whether a worker has given a sign lately. It is true where the server does not answer.
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
			continue // it has ended meanwhile
		}
		var s WorkerStatus
		if json.Unmarshal(entry.Value(), &s) == nil {
			s.Alive = time.Since(entry.Created()) < silence
			list = append(list, s)
		}
	}
	return list, nil
}

// version is that of the module of this package in the program.
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
