// Package cache answers requests that were answered before from files, without a call. A cache is for programs that ask
// the same again, such as a batch whose input has changed in a few lines. Use it for the requests of one user: a stored
// answer shows a user what another user has asked.
package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cassette"
	"github.com/clichain/clichain/internal/fingerprint"
	"github.com/clichain/clichain/internal/localfile"
)

// Defaults of [Config].
const (
	DefaultMaxAge   = 7 * 24 * time.Hour
	DefaultMaxBytes = 1 << 30
)

// Config configures [Open]. Dir is required.
type Config struct {
	// Dir is the directory of the files. Open creates it for this user only, except in a home that does not exist. It
	// refuses a directory in which another user can replace files.
	Dir string
	// Scope names everything besides the request that selects the answer, such as the backends and their models. Only
	// caches with the same Scope share answers. Empty: the name of the backend.
	Scope string
	// MaxAge is the age at which an answer is no longer used. Zero: DefaultMaxAge.
	MaxAge time.Duration
	// MaxBytes limits the size of all files in the directory. The oldest are removed first. The size can exceed the
	// limit by the answers that several processes add at the same time. Zero: DefaultMaxBytes.
	MaxBytes int64
}

// Cache has the answers in one directory. Make it with [Open]. It is safe for concurrent use. Several processes can use
// one directory.
type Cache struct {
	scope string
	store store
}

// Open opens the cache in cfg.Dir. It returns an error if the directory cannot be used.
func Open(cfg Config) (*Cache, error) {
	dir, err := filepath.Abs(cfg.Dir)
	switch {
	case cfg.Dir == "":
		err = errors.New("the directory is missing")
	case cfg.MaxAge < 0 || cfg.MaxBytes < 0:
		err = errors.New("a limit is negative")
	}
	if err == nil {
		err = localfile.MakeDir(dir)
	}
	if err == nil {
		dir, err = localfile.Trusted(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return &Cache{scope: cfg.Scope, store: store{
		dir: dir, maxAge: cmp.Or(cfg.MaxAge, DefaultMaxAge), maxBytes: cmp.Or(cfg.MaxBytes, DefaultMaxBytes),
	}}, nil
}

// Backend returns a backend that answers from the cache, or asks another backend and stores its answer. Wrap the
// outermost chain, so that skipped backends do not matter for a stored answer.
//
// Requests at AccessNone are stored, except those with sessions, threads, MCP servers, agents, environment variables,
// extra arguments or functions of the program. All other requests are passed to the other backend. Answers are stored
// if they are complete, and if neither request nor answer contains a secret. If an answer cannot be stored, the
// response has a warning.
//
// A stored answer has the flag [call.FlagCached], the text, the backend and the model of the first one, the cost 0, and
// no Session. A stream has its text as one event.
//
// The backend is safe for concurrent use if the other one is. Two equal requests at the same time are both asked.
func (c *Cache) Backend(b clichain.Backend) clichain.Backend {
	return &cached{inner: b, scope: cmp.Or(c.scope, b.Name()), store: &c.store}
}

type cached struct {
	inner clichain.Backend
	scope string
	store *store
}

func (c *cached) Name() string { return c.inner.Name() }

// Ready returns the result of a wrapped chain. For other backends it returns nil, which means ready.
func (c *cached) Ready(ctx context.Context) error {
	if inner, ok := c.inner.(interface{ Ready(context.Context) error }); ok {
		return inner.Ready(ctx)
	}
	return nil
}

func (c *cached) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	e := c.entry(ctx, req)
	if resp := e.find(req); resp != nil {
		return resp, nil
	}
	resp, err := c.inner.Complete(ctx, req)
	if err != nil || resp == nil {
		return resp, err
	}
	return e.keep(resp), nil
}

func (c *cached) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		e := c.entry(ctx, req)
		if resp := e.find(req); resp != nil {
			_ = yield(clichain.Event{Kind: clichain.EventStart, Backend: resp.Backend}, nil) &&
				yield(clichain.Event{Kind: clichain.EventText, Backend: resp.Backend, Text: resp.Text}, nil) &&
				yield(clichain.Event{Kind: clichain.EventDone, Backend: resp.Backend, Response: resp}, nil)
			return
		}
		for event, err := range c.inner.Stream(ctx, req) {
			if err == nil && event.Kind == clichain.EventDone && event.Response != nil {
				event.Response = e.keep(event.Response)
			}
			if !yield(event, err) {
				return
			}
		}
	})
}

// entry is the place of an answer in a cache. A nil entry finds and keeps nothing.
type entry struct {
	store *store
	name  string // of the file
	asked cassette.Request
	scope string
}

// entry returns the entry of a request, or nil if its answer must not be stored.
func (c *cached) entry(ctx context.Context, req clichain.Request) *entry {
	o := &req.Options
	if req.Access != clichain.AccessNone || req.Session != "" || len(req.Threads) > 0 || len(req.Env) > 0 ||
		o.Continue || o.SessionID != "" || len(o.MCPConfig) > 0 || len(o.Agents) > 0 || len(o.Extra) > 0 ||
		call.HostToolsOf(ctx) != nil {
		return nil
	}
	asked, err := cassette.Canonical(req)
	if err != nil {
		return nil // the backend reports the mistake
	}
	hash := fingerprint.New()
	hash.Add(c.scope, asked.Key().String())
	return &entry{c.store, hash.Long() + suffix, asked, c.scope}
}

// find returns the stored answer, or nil.
func (e *entry) find(req clichain.Request) *clichain.Response {
	if e == nil {
		return nil
	}
	began := time.Now()
	file := e.store.read(e.name)
	if file == nil || file.Request.Key() != e.asked.Key() || file.Calls[0].Backend != e.scope {
		return nil
	}
	stored := file.Calls[0].Response.Response()
	return &clichain.Response{
		Text: stored.Text, Backend: stored.Backend, Provider: stored.Provider, Model: stored.Model,
		Usage: clichain.Usage{CostUSD: new(float64)}, Duration: time.Since(began),
		Flags: append(stored.Flags, call.FlagCached), Metadata: req.Metadata,
	}
}

// complete are the flags of answers that are worth storing.
var complete = []call.Flag{call.FlagRepaired, call.FlagStreamFallback}

// keep stores an answer. It returns the answer, with a warning if it could not be stored.
func (e *entry) keep(resp *clichain.Response) *clichain.Response {
	partial := func(f call.Flag) bool { return !slices.Contains(complete, f) }
	if e == nil || slices.ContainsFunc(resp.Flags, partial) {
		return resp
	}
	file := &cassette.Cassette{Request: e.asked, Calls: []cassette.Call{{Backend: e.scope, Response: cassette.ResponseOf(
		clichain.Response{
			Text: resp.Text, Backend: resp.Backend, Provider: resp.Provider, Model: resp.Model, Flags: resp.Flags,
			Usage: resp.Usage, Duration: resp.Duration,
		})}}}
	err := cassette.Secrets("request", e.asked)
	if err == nil {
		err = cassette.Secrets("call", &file.Calls[0])
	}
	if err == nil {
		err = e.store.write(e.name, file)
	}
	if err != nil {
		resp = resp.Clone()
		resp.Warnings = append(resp.Warnings, fmt.Sprintf("the answer is not in the cache: %v", err))
	}
	return resp
}
