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

	"github.com/nats-io/nats.go"

	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/jetstream"
)

// queue is the queue of one batch, with its directory.
type queue struct {
	*jetstream.Queue
	scope     string // prefix of this batch's ids, because other batches may use the same queue
	dir       string // empty: no directory
	temporary bool   // a later run cannot use the directory

	nc     *nats.Conn
	server *jetstream.Server // nil: the server runs in another process
}

// dirFor returns the directory for a kind of queue, and creates it. It returns "" if the output has no such
// directory.
func dirFor(cfg *Config, kind string) (dir string, err error) {
	switch {
	case cfg.Store != "":
		dir = filepath.Join(cfg.Store, "clichain-"+nameOf(cfg.Out)+kind)
	case cfg.Out != disk.Stream && disk.IsRegular(cfg.Out):
		dir = cfg.Out + kind
	default:
		return "", nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", disk.Explain(dir, err)
	}
	return dir, nil
}

// nameOf returns a name that is unique for each output, so that batches can share Config.Store.
func nameOf(out string) string {
	if out == disk.Stream {
		return "stdout"
	}
	if abs, err := filepath.Abs(out); err == nil {
		out = abs
	}
	sum := sha256.Sum256([]byte(out))
	return hex.EncodeToString(sum[:6])
}

const scopeBytes = 6

// scopeIn returns the scope that earlier runs used, or creates a scope. If dir is empty, later runs cannot find the
// scope.
func scopeIn(dir string) (string, error) {
	name := filepath.Join(dir, "scope")
	if dir != "" {
		if data, err := os.ReadFile(name); err == nil && len(data) == 2*scopeBytes {
			return string(data), nil
		}
	}
	random := make([]byte, scopeBytes)
	_, _ = rand.Read(random) // rand.Read never fails
	scope := hex.EncodeToString(random)
	if dir == "" {
		return scope, nil
	}
	if err := disk.Replace(name, scope); err != nil {
		return "", disk.Explain(dir, err)
	}
	return scope, nil
}

func (q *queue) jobs() *queue { return q }

// outside returns the id of a line's job in the queue.
func (q *queue) outside(id string) string { return q.scope + "." + id }

// inside returns the id of the line that a job answers. ok is false for a job of another batch.
func (q *queue) inside(id string) (_ string, ok bool) { return strings.CutPrefix(id, q.scope+".") }

// forget removes results whose records are on the disk.
func (q *queue) forget(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if err := q.Forget(ctx, q.outside(id)); err != nil {
			return err
		}
	}
	return nil
}

// dropFailed removes the failures of lines that will be retried.
func (q *queue) dropFailed(ctx context.Context, again func(*Record) bool) error {
	for r, err := range q.Dead(ctx) {
		if err != nil {
			return err
		}
		id, ours := q.inside(r.ID)
		if !ours || !again(&Record{ID: id, Error: r.Failure}) {
			continue
		}
		if err := q.Drop(ctx, r.ID); err != nil && !errors.Is(err, jetstream.ErrNotFound) {
			return err
		}
	}
	return nil
}

// close closes the connection and the server. After a finished run, it also removes the directory.
func (q *queue) close(finished bool) error {
	if q.nc != nil {
		q.nc.Close()
	}
	if q.server != nil {
		_ = q.server.Close() // everything that the server acknowledged is on the disk
	}
	if q.dir == "" || !finished && !q.temporary {
		return nil
	}
	if err := os.RemoveAll(q.dir); err != nil {
		return fmt.Errorf("the queue directory cannot be removed: %w", err)
	}
	return nil
}
