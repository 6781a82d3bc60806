package batch

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// order delays each record of a run until the records of all earlier lines are written. It stores only ids, because
// the queue keeps the results. A nil order delays nothing.
type order struct {
	ids   []string        // lines that are submitted but not written, in the order of the input
	ready map[string]bool // ids that have a result
	at    map[hash]int    // the position of a line in the input
}

func newOrder() *order { return &order{ready: map[string]bool{}, at: map[hash]int{}} }

// see stores the position of a line in the input.
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

// drop removes a line, so that later lines no longer wait for it.
func (o *order) drop(id string) {
	if o == nil {
		return
	}
	delete(o.ready, id)
	if i := slices.Index(o.ids, id); i >= 0 {
		o.ids = slices.Delete(o.ids, i, i+1)
	}
}

// arrived writes a record, or delays it until the records of earlier lines are written. The caller holds mu.
func (r *recorder) arrived(rec *Record, want Digest) error {
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

// fetchLimit is the maximum time that the fetch of a result may delay all other records.
const fetchLimit = 5 * time.Second

// writeReady writes the records that do not wait for an earlier line. If gaps is true, it writes all records that are
// ready. If the queue does not return a result now, the next call tries again. The caller holds mu.
func (r *recorder) writeReady(gaps bool) error {
	ctx, stop := context.WithTimeout(context.Background(), fetchLimit)
	defer stop()
	for _, id := range slices.Clone(r.order.ids) {
		if !r.order.ready[id] {
			if gaps {
				continue
			}
			return nil
		}
		result, err := r.queue.Result(ctx, r.queue.outside(id))
		if err != nil && r.exec.transient(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("fetch the result of %q for the ordered output: %w", id, explain(r.exec, err))
		}
		_, want, _ := r.ids.of(id)
		if err := r.write(recordOf(id, result, takeDigest(result), want), want); err != nil {
			return err
		}
	}
	return nil
}

// writeLate writes the records whose results the queue did not return before.
func (r *recorder) writeLate() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order == nil {
		return nil
	}
	err := r.writeReady(false)
	r.finishIfDone()
	return err
}

// writeRest writes the records that still wait for earlier lines if no later run can write them.
func (r *recorder) writeRest() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order == nil || r.cfg.resumes() {
		return nil
	}
	return r.writeReady(true)
}
