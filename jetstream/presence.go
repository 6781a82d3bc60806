package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
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
	// Takes has the classes of jobs that it takes, and from when on: the zero time means now. Refuses has the others, and
	// why. A class is a token for the needs of a job.
	Takes   map[string]time.Time `json:"takes,omitempty"`
	Refuses map[string]string    `json:"refuses,omitempty"`
	// Unstored is how many results it keeps that the server does not take.
	Unstored int `json:"unstored,omitempty"`
	// Alive: it has given a sign lately.
	Alive bool `json:"alive"`
}

// heartbeat is how often a worker gives a sign, and silence after how long without
// one it counts as gone.
const (
	heartbeat = 2 * time.Second
	silence   = 5 * heartbeat
)

// present gives signs until ctx ends, and then says that the worker has gone.
func (w *worker) present(ctx context.Context) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		w.sign(ctx)
		select {
		case <-ctx.Done():
			gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeat)
			_ = w.q.workers.Delete(gone, key(w.Name)) // without it, it is known when no sign comes
			cancel()
			return
		case <-w.changed:
		case <-tick.C:
		}
	}
}

// change has the worker say at once what it can do now.
func (w *worker) change() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *worker) sign(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	w.mu.Lock()
	resting := w.resting
	w.mu.Unlock()
	s := WorkerStatus{
		Name: w.Name, Slots: w.Slots, Running: len(w.slots), Since: w.since, Seen: time.Now().UTC(),
		RestingUntil: resting.UTC(),
		Unstored:     int(w.unstored.Load()),
	}
	w.announce(ctx, &s)
	data, err := json.Marshal(s)
	if err == nil {
		_, err = w.q.workers.Put(ctx, key(w.Name), data)
	}
	if err != nil && ctx.Err() == nil {
		w.Logger.DebugContext(ctx, "the worker cannot give a sign", "error", err)
	}
}

// alive reports whether a worker has given a sign lately. One of which that cannot be
// told counts as alive.
func (q *Queue) alive(ctx context.Context, name string) bool {
	entry, err := q.workers.Get(ctx, key(name))
	if errors.Is(err, js.ErrKeyNotFound) {
		return false
	}
	return err != nil || time.Since(entry.Created()) < silence
}

// workerList is what the workers have said of themselves.
func (q *Queue) workerList(ctx context.Context) (list []WorkerStatus, err error) {
	keys, err := q.workers.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	for k := range keys.Keys() {
		entry, err := q.workers.Get(ctx, k)
		if err != nil {
			continue // it has gone meanwhile
		}
		var s WorkerStatus
		if json.Unmarshal(entry.Value(), &s) == nil {
			s.Alive = time.Since(entry.Created()) < silence
			list = append(list, s)
		}
	}
	return list, nil
}

// maxRefusal bounds what a worker says of a class that it does not take, in bytes.
const maxRefusal = 300

// announce adds what the worker can do to what it says of itself.
func (w *worker) announce(ctx context.Context, s *WorkerStatus) {
	s.Version, s.Protocol, s.Platform = version(), w.protocol, runtime.GOOS+"/"+runtime.GOARCH
	s.Backends = []string{w.backend.Name()}
	if w.Chain != nil {
		s.Backends = nil
		for _, b := range w.Chain.Backends() {
			s.Backends = append(s.Backends, b.Name())
		}
	}
	s.Access, s.Models, s.Dirs = w.Permissions.Access, w.Permissions.Models, w.Permissions.Dirs
	if len(s.Dirs) == 0 && s.Access > clichain.AccessNone {
		s.Dirs = []string{"."}
	}
	s.Takes, s.Refuses = map[string]time.Time{}, map[string]string{}
	for _, t := range w.q.takers.list() {
		switch o := w.outlook(ctx, t.class, t.needs); {
		case o.why == "":
			s.Takes[t.class] = o.until.UTC()
		case len(o.why) > maxRefusal:
			s.Refuses[t.class] = strings.ToValidUTF8(firstLine(o.why[:maxRefusal]), "") + "…"
		default:
			s.Refuses[t.class] = firstLine(o.why)
		}
	}
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
