package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/clichain/clichain/jetstream"
)

// order has the records of a run wait for those of the lines before them. Only ids wait: the queue keeps the results,
// as it does for a run that is killed.
type order struct {
	ids   []string        // of the lines that are submitted and not written, in the order of the input
	ready map[string]bool // those that have a result
	at    map[hash]int    // where the input has a line
}

func newOrder() *order { return &order{ready: map[string]bool{}, at: map[hash]int{}} }

// see notes the place of a line in the input. A nil order notes nothing.
func (o *order) see(id string) {
	if o != nil {
		o.at[hashOf(id)] = len(o.at)
	}
}

func (o *order) add(id string) {
	if o != nil {
		o.ids = append(o.ids, id)
	}
}

func (o *order) isReady(id string) bool { return o != nil && o.ready[id] }

// drop notes that nothing waits for the line any more.
func (o *order) drop(id string) {
	if o == nil {
		return
	}
	delete(o.ready, id)
	if i := slices.Index(o.ids, id); i >= 0 {
		o.ids = slices.Delete(o.ids, i, i+1)
	}
}

// arrived takes a result that has come: it is written when its turn comes. The caller holds mu.
func (r *run) arrived(rec *Record, want digest) error {
	if r.order == nil {
		return r.write(rec, want)
	}
	r.order.ready[rec.ID] = true
	if r.order.ids[0] == rec.ID {
		if err := r.write(rec, want); err != nil {
			return err
		}
	}
	return r.writeReady(false)
}

// fetchLimit bounds how long a queue elsewhere may hold up all others for a result.
const fetchLimit = 5 * time.Second

// writeReady writes the records whose turn it is, or with gaps all that are ready. What a queue elsewhere does not give
// now waits for the next time. The caller holds mu.
func (r *run) writeReady(gaps bool) error {
	ctx, stop := context.WithTimeout(context.Background(), fetchLimit)
	defer stop()
	for _, id := range slices.Clone(r.order.ids) {
		if !r.order.ready[id] {
			if gaps {
				continue
			}
			return nil
		}
		result, err := r.store.queue.Result(ctx, r.store.outside(id))
		if err != nil && r.cfg.remote() && !errors.Is(err, jetstream.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the result of %q, which waits for the lines before it: %w", id, r.store.explain(err))
		}
		_, want, _ := r.ids.of(id)
		if err := r.write(recordOf(id, result, takeDigest(result), want), want); err != nil {
			return err
		}
	}
	return nil
}

// writeLate writes what a queue elsewhere did not give before.
func (r *run) writeLate() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order == nil || !r.cfg.remote() {
		return nil
	}
	err := r.writeReady(false)
	r.finishIfDone()
	return err
}

// leaveOrder writes what waits for its turn where no later run can.
func (r *run) leaveOrder() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order == nil || r.cfg.resumes() {
		return nil
	}
	return r.writeReady(true)
}

// sort puts the records of an output in the order of the input, where they are in another: a run before had none, or
// lines were asked again. Records of lines that the input does not have come last.
func (o *output) sort(at map[hash]int) error {
	type piece struct {
		at   int
		from int64
		size int
	}
	var pieces []piece
	var end int64
	if _, err := o.file.Seek(0, io.SeekStart); err != nil {
		return explain(o.name, err)
	}
	_, _, err := scanRecords(o.name, o.file, func(r *Record, line []byte) {
		place, known := at[hashOf(r.ID)]
		if !known {
			place = math.MaxInt
		}
		pieces = append(pieces, piece{place, end, len(line)})
		end += int64(len(line))
	})
	byPlace := func(a, b piece) int { return cmp.Compare(a.at, b.at) }
	if err != nil || slices.IsSortedFunc(pieces, byPlace) {
		return err
	}
	slices.SortStableFunc(pieces, byPlace)
	return o.replace(func(next *output) error {
		for _, p := range pieces {
			line := make([]byte, p.size)
			if _, err := o.file.ReadAt(line, p.from); err != nil {
				return explain(o.name, err)
			}
			if err := next.write(line); err != nil {
				return err
			}
		}
		return next.finish()
	}, os.Rename)
}
