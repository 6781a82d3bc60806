package batch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/clichain/clichain/jetstream"
)

// collect takes the results of workers elsewhere as they come.
func (r *run) collect(ctx context.Context) {
	err := r.insist(ctx, func() error {
		for result, err := range r.store.queue.Results(ctx, r.seen) {
			if err != nil {
				return err
			}
			r.seen = result.Sequence
			if err := r.record(result); err != nil {
				r.stop(err)
				return nil
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.stop(err)
	}
}

// collectKept takes note of what the queue keeps of lines that a run before has answered, as far as collect has not
// seen it: a run that has few lines left may end sooner. What cannot be reached stays for the next run.
func (r *run) collectKept(ctx context.Context) {
	if r.tally.now().Before == 0 {
		return
	}
	for result, err := range r.store.queue.Kept(ctx, r.seen) {
		if err != nil || r.record(result) != nil {
			return
		}
	}
}

// record writes what came of a job, once. The result of an id that does not wait yet is looked up when it does.
func (r *run) record(result *jetstream.Result) error {
	id, ours := r.store.inside(result.ID)
	if !ours {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known, want, waits := r.ids.of(id)
	got := takeDigest(result)
	isDone := known.state&stateDone != 0
	if known.state&stateRedo != 0 && got.differs(want) && got == known.asked {
		return nil // the output has it
	}
	if isDone && !slices.Contains(r.unsynced, id) {
		r.unsynced = append(r.unsynced, id) // of a run that ended before it forgot the result
	}
	if isDone || !waits || r.order.isReady(id) {
		return nil
	}
	rec := recordOf(id, result, got, want)
	r.tally.pay(rec)
	if err := r.arrived(rec, want); err != nil {
		return err
	}
	if rec.Error != nil {
		r.notices.once("failed "+string(rec.Error.Reason), "%s failed with %s: %s", id, rec.Error.Reason, rec.Error.Message)
	}
	r.finishIfDone()
	if c := r.tally.now(); r.tooDear(&c) {
		r.shut() // before the worker has a free slot for the next job
		r.drain(ErrCost)
	}
	return nil
}

func recordOf(id string, result *jetstream.Result, got, want digest) *Record {
	return &Record{
		ID: id, Response: result.Response, Error: result.Failure, History: result.History, Asked: cmp.Or(got, want),
	}
}

// write adds a record to the output. The caller holds mu.
func (r *run) write(rec *Record, want digest) error {
	known, _, _ := r.ids.of(rec.ID)
	if err := r.out.append(rec); err != nil {
		return err
	}
	r.ids.done(rec)
	r.order.drop(rec.ID)
	if known.state&stateRedo != 0 {
		r.superseded[hashOf(rec.ID)]++
	}
	if rec.Asked.differs(want) {
		r.keepsOld(rec.ID)
	}
	<-r.room
	r.tally.add(rec)
	if r.unsynced = append(r.unsynced, rec.ID); len(r.unsynced) >= settleAt {
		notify(r.full)
	}
	return nil
}

func (r *run) tooDear(c *Counts) bool { return r.cfg.MaxCostUSD > 0 && c.CostUSD >= r.cfg.MaxCostUSD }

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Records are put on the disk in groups: of so many, or after so long.
const (
	settleAt    = 100
	settleEvery = time.Second
)

// settleOften keeps the queue from growing: a result whose record is on the disk is forgotten there.
func (r *run) settleOften(ctx context.Context) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.full:
		}
		if err := r.writeLate(); err != nil {
			r.stop(err)
		}
		r.settle(ctx)
	}
}

// settle forgets the results whose records are on the disk. A stream has no disk: what a store of its own keeps for it
// goes at the end.
func (r *run) settle(ctx context.Context) {
	if !r.out.isFile() && r.cfg.Store != "" {
		return
	}
	r.mu.Lock()
	ids := r.unsynced
	r.unsynced = nil
	r.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	if err := r.out.sync(); err != nil {
		r.stop(err)
		return
	}
	if err := r.store.forget(ctx, ids); err != nil {
		r.mu.Lock()
		r.unsynced = append(r.unsynced, ids...) // to forget twice does no harm
		r.mu.Unlock()
		if ctx.Err() == nil && !r.cfg.remote() {
			r.checkFolder()
		}
	}
}
