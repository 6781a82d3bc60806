package batch

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// order makes the records of a run wait for those of earlier lines. Only ids wait: the queue keeps the results, as it
// does for a run that is killed. A nil order makes nothing wait.
type order struct {
	ids   []string        // of the lines that are submitted and not written, in the order of the input
	ready map[string]bool // those that have a result
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

// drop removes a line for which the others need not wait any more.
func (o *order) drop(id string) {
	if o == nil {
		return
	}
	delete(o.ready, id)
	if i := slices.Index(o.ids, id); i >= 0 {
		o.ids = slices.Delete(o.ids, i, i+1)
	}
}

// arrived writes a record, or waits for those before it. The caller holds mu.
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

// fetchLimit bounds how long a queue elsewhere may delay all others for a result.
const fetchLimit = 5 * time.Second

// writeReady writes the records that wait for no other, or with gaps all that are ready. What a queue elsewhere does
// not return now waits for the next time. The caller holds mu.
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
			return fmt.Errorf("the result of %q, which waits for the lines before it: %w", id, explain(r.exec, err))
		}
		_, want, _ := r.ids.of(id)
		if err := r.write(recordOf(id, result, takeDigest(result), want), want); err != nil {
			return err
		}
	}
	return nil
}

// writeLate writes what a queue elsewhere did not return before.
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

// writeRest writes the records that still wait for others, where no later run can.
func (r *recorder) writeRest() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order == nil || r.cfg.resumes() {
		return nil
	}
	return r.writeReady(true)
}
