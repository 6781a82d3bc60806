package batch

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/jetstream"
)

// recorder writes the results of jobs to the output, one record for each id.
type recorder struct {
	cfg     *Config
	out     *disk.Output[*Record]
	ids     *ledger
	tally   *tally
	notices *notices

	queue       *queue
	exec        executor
	stop        context.CancelCauseFunc // stops the run
	costReached func()                  // called if the records cost Config.MaxCostUSD or more

	room chan struct{} // contains one element for each id that waits
	full chan struct{} // signals that many records are not on the disk yet

	mu    sync.Mutex
	read  bool   // the whole input was read
	order *order // nil: records are written in the order of the answers
	// superseded contains the number of records of each id before its last record.
	superseded map[hash]int
	unsynced   []string // ids of records that may not be on the disk yet
	submitting string   // the id that the feeder submits now; empty: none
}

func newRecorder(cfg *Config) *recorder {
	r := &recorder{
		cfg: cfg, ids: newLedger(), tally: newTally(), notices: newNotices(cfg.Notice), superseded: map[hash]int{},
		room: make(chan struct{}, cfg.ahead()), full: make(chan struct{}, 1),
	}
	if cfg.Ordered {
		r.order = newOrder()
	}
	return r
}

// expect waits until fewer than Config.ahead ids wait, and then registers an id that waits for its result.
func (r *recorder) expect(ctx context.Context, id string, asked Digest) error {
	select {
	case r.room <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.wait(id, asked)
	r.order.add(id)
	r.submitting = id
	return nil
}

// submitted records that the feeder has submitted the last id of expect.
func (r *recorder) submitted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.submitting = ""
}

// forgo ends the wait for the result of an id that gets no record.
func (r *recorder) forgo(id string) error {
	r.ids.forgo(id)
	<-r.room
	if r.order == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order.drop(id)
	return r.writeReady(false)
}

// inputRead records that the input has no more lines.
func (r *recorder) inputRead() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = true
	r.finishIfDone()
}

// finishIfDone ends the run if every line has its record. The caller holds mu.
func (r *recorder) finishIfDone() {
	if r.read && !r.ids.waits() {
		r.stop(errFinished)
	}
}

// record writes the result of a job unless its record exists. It ignores the result of an id that does not wait yet,
// because feeder.takeKept fetches that result again.
func (r *recorder) record(result *jetstream.Result) error {
	id, ours := r.queue.inside(result.ID)
	if !ours {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known, want, waits := r.ids.of(id)
	got := takeDigest(result)
	isDone := known.state&stateDone != 0
	if known.state&stateRedo != 0 && got.differs(want) && got == known.asked {
		return nil // the output contains this result
	}
	if isDone && !slices.Contains(r.unsynced, id) {
		r.unsynced = append(r.unsynced, id) // an earlier run ended before it removed the result
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
	if r.costLimitReached() {
		r.costReached()
	}
	return nil
}

func recordOf(id string, result *jetstream.Result, got, want Digest) *Record {
	return &Record{
		ID: id, Response: result.Response, Error: result.Failure, History: result.History, Asked: cmp.Or(got, want),
	}
}

// write adds a record to the output. The caller holds mu.
func (r *recorder) write(rec *Record, want Digest) error {
	known, _, _ := r.ids.of(rec.ID)
	line, err := rec.line()
	if err == nil {
		err = r.out.Append(line)
	}
	if err != nil {
		return err
	}
	r.ids.done(rec.ID, rec.Asked, rec.Error != nil)
	r.order.drop(rec.ID)
	if known.state&stateRedo != 0 {
		r.superseded[hashOf(rec.ID)]++
	}
	if rec.Asked.differs(want) {
		r.keepOld(rec.ID)
	}
	<-r.room
	r.tally.add(rec)
	if r.unsynced = append(r.unsynced, rec.ID); len(r.unsynced) >= settleAt {
		notify(r.full)
	}
	return nil
}

// keepOld counts a record that answers a different request than its line contains.
func (r *recorder) keepOld(id string) {
	r.tally.change(func(c *Counts) { c.Changed++ })
	r.notices.once("changed",
		"warning: line %q has changed and keeps its earlier record; use --changed to retry it", id)
}

func (r *recorder) costLimitReached() bool {
	return r.cfg.MaxCostUSD > 0 && r.tally.now().CostUSD >= r.cfg.MaxCostUSD
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Records are committed to the disk in groups: after settleAt records or after settleEvery.
const (
	settleAt    = 100
	settleEvery = time.Second
)

// settle commits the output to the disk and then removes the results of written records from the queue, so that the
// queue does not grow. The result of an id that the feeder submits now stays, because Submit would add the job of an
// earlier run again without it. If the output is a stream, the results in Config.Store stay until the end of the batch.
func (r *recorder) settle(ctx context.Context) {
	if !r.out.IsFile() && r.cfg.Store != "" {
		return
	}
	r.mu.Lock()
	ids := r.unsynced
	r.unsynced = nil
	if i := slices.Index(ids, r.submitting); i >= 0 {
		ids, r.unsynced = slices.Delete(ids, i, i+1), []string{r.submitting}
	}
	r.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	if err := r.out.Sync(); err != nil {
		r.stop(err)
		return
	}
	if err := r.queue.forget(ctx, ids); err != nil {
		r.mu.Lock()
		r.unsynced = append(r.unsynced, ids...) // forget is idempotent
		r.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		if err := r.exec.check(); err != nil {
			r.stop(err)
		}
	}
}
