package batch

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
)

// store is the queue of a batch, and the folder that goes with it.
type store struct {
	queue  *jetstream.Queue
	folder string // empty: none
	scope  string // stands before the ids in the queue, which others may use too

	temporary bool // the folder is of no use to a later run

	server *jetstream.Server // nil: elsewhere
	nc     *nats.Conn
}

// The queue of one process: no other worker may do better than the first runs of a job did, and nobody has to wait long
// to know that the worker of a run before is gone.
const (
	maxDeliver = 3
	ackWait    = 10 * time.Second
)

func openStore(ctx context.Context, cfg *Config) (s *store, err error) {
	s = &store{}
	defer func() {
		if err != nil {
			_ = s.close(false) // the first error counts
			s = nil
		}
	}()
	if err := s.makeFolder(cfg); err != nil {
		return s, err
	}
	if err := s.connect(ctx, cfg); err != nil {
		return s, err
	}
	var queue jetstream.Config
	if cfg.Queue != nil {
		queue = *cfg.Queue
	}
	if !cfg.remote() {
		queue.MaxDeliver, queue.AckWait = maxDeliver, ackWait
	}
	if s.queue, err = jetstream.Open(ctx, s.nc, &queue); err != nil {
		return s, s.explain(err)
	}
	if s.scope, err = s.findScope(); err != nil {
		return s, explain(s.folder, err)
	}
	return s, nil
}

func (s *store) makeFolder(cfg *Config) (err error) {
	kind := ".queue" // the store of a server, which has its folder for itself
	if cfg.remote() {
		kind = ".nats"
	}
	switch {
	case cfg.Store != "":
		s.folder = filepath.Join(cfg.Store, "clichain-"+nameOf(cfg.Out)+kind)
	case cfg.Out != stream && isRegular(cfg.Out):
		s.folder = cfg.Out + kind
	case cfg.remote():
		return nil
	default:
		s.temporary = true
		if s.folder, err = os.MkdirTemp("", "clichain-batch-"); err != nil {
			return explain(os.TempDir(), err)
		}
		return nil
	}
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return explain(s.folder, err)
	}
	return nil
}

// nameOf is another for each output, so that batches may share a folder for their stores.
func nameOf(out string) string {
	if out == stream {
		return "stdout"
	}
	if abs, err := filepath.Abs(out); err == nil {
		out = abs
	}
	sum := sha256.Sum256([]byte(out))
	return hex.EncodeToString(sum[:6])
}

func isRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func (s *store) connect(ctx context.Context, cfg *Config) (err error) {
	if cfg.remote() {
		s.nc, err = cfg.Connect(ctx)
		return err
	}
	if s.server, err = jetstream.Embed(s.folder); err != nil {
		if _, locked := errors.AsType[*jetstream.LockedError](err); locked {
			return &Mistake{err}
		}
		return s.explain(err)
	}
	if s.nc, err = s.server.Connect(); err != nil {
		return s.explain(err)
	}
	return nil
}

// explain says of an error of the queue that its folder cannot be written to, if that is so.
func (s *store) explain(err error) error {
	if err != nil && s.folder != "" && (s.server != nil || s.nc == nil) {
		if problem := probe(s.folder); problem != nil {
			return problem
		}
	}
	return err
}

// findScope reads what runs before have used, or makes a new one. In a queue of its own a batch is alone.
func (s *store) findScope() (string, error) {
	if s.server != nil {
		return "batch", nil
	}
	name := filepath.Join(s.folder, "scope")
	if s.folder != "" {
		if data, err := os.ReadFile(name); err == nil && len(data) == 2*scopeBytes {
			return string(data), nil
		}
	}
	random := make([]byte, scopeBytes)
	_, _ = rand.Read(random) // it never fails
	scope := hex.EncodeToString(random)
	if s.folder == "" {
		return scope, nil
	}
	return scope, replaceFile(name, scope)
}

const scopeBytes = 6

// replaceFile writes a small file such that it is there as a whole or not at all.
func replaceFile(name, text string) error {
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	for _, step := range []func() error{f.Sync, f.Close} {
		if failed := step(); err == nil {
			err = failed
		}
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	syncFolder(filepath.Dir(name))
	return nil
}

// outside is an id as the queue has it, and inside as the input does; ok is false for the job of somebody else.
func (s *store) outside(id string) string { return s.scope + "." + id }

func (s *store) inside(id string) (_ string, ok bool) { return strings.CutPrefix(id, s.scope+".") }

// forget removes results whose records are on the disk.
func (s *store) forget(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if err := s.queue.Forget(ctx, s.outside(id)); err != nil {
			return err
		}
	}
	return nil
}

// dropFailed removes the failures that are to be run again.
func (s *store) dropFailed(ctx context.Context, again func(*Record) bool) error {
	for r, err := range s.queue.Dead(ctx) {
		if err != nil {
			return s.explain(err)
		}
		id, ours := s.inside(r.ID)
		if !ours || !again(&Record{ID: id, Error: r.Failure}) {
			continue
		}
		if err := s.queue.Drop(ctx, r.ID); err != nil && !errors.Is(err, jetstream.ErrNotFound) {
			return s.explain(err)
		}
	}
	return nil
}

// dropLimit bounds how long a queue elsewhere is cleared of jobs that nobody will ask for.
const dropLimit = 10 * time.Second

// abandon takes jobs out of a queue that no later run finds.
func (s *store) abandon(ids []string) {
	ctx, stop := context.WithTimeout(context.Background(), dropLimit)
	defer stop()
	for _, id := range ids {
		if s.queue.Drop(ctx, s.outside(id)) != nil && ctx.Err() != nil {
			return
		}
	}
}

// close ends the connection and the server. The folder goes with the last batch that needs it.
func (s *store) close(finished bool) error {
	if s.nc != nil {
		s.nc.Close()
	}
	if s.server != nil {
		_ = s.server.Close() // what it had acknowledged is on the disk
	}
	if s.folder == "" || !finished && !s.temporary {
		return nil
	}
	if err := os.RemoveAll(s.folder); err != nil {
		return fmt.Errorf("what is not needed any more stays: %w", err)
	}
	return nil
}
