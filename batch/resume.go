package batch

import (
	"context"
	"maps"

	"github.com/clichain/clichain/batch/internal/disk"
)

// openOutput opens the output and reads the records of earlier runs. It removes superseded records, which a killed
// run with Config.Changed leaves.
func (r *recorder) openOutput() (err error) {
	if r.out, err = disk.OpenOutput(r.cfg.Out, r.cfg.Stdout, parseRecord); err != nil {
		return err
	}
	if err = r.readOutput(); err == nil && len(r.superseded) > 0 {
		if err = r.compact(); err == nil {
			r.ids, r.tally, r.superseded = newLedger(), newTally(), map[hash]int{}
			err = r.readOutput()
		}
	}
	if err != nil {
		_ = r.out.Close()
		return err
	}
	r.tally.change(func(c *Counts) { c.Before = c.Done() })
	return nil
}

func (r *recorder) readOutput() error {
	return r.out.Scan(func(rec *Record) {
		known, _, _ := r.ids.of(rec.ID)
		if known.state&stateDone != 0 {
			r.superseded[hashOf(rec.ID)]++
		}
		if !r.cfg.again(rec) && r.ids.done(rec.ID, rec.Asked, rec.Error != nil) {
			r.tally.pay(rec)
			r.tally.add(rec)
		}
	})
}

// compact removes each record that a later record with the same id supersedes.
func (r *recorder) compact() error {
	if len(r.superseded) == 0 {
		return nil
	}
	left := maps.Clone(r.superseded)
	return r.out.Rewrite(func(rec *Record) bool {
		h := hashOf(rec.ID)
		if left[h] == 0 {
			return true
		}
		left[h]--
		return false
	})
}

// dropFailed removes the failures that will be retried, first from the queue and then from the output. If the run is
// interrupted between the two steps, the next run can repeat both.
func (r *recorder) dropFailed(ctx context.Context) error {
	if !r.cfg.RetryFailed {
		return nil
	}
	if err := r.queue.dropFailed(ctx, r.cfg.again); err != nil {
		return explain(r.exec, err)
	}
	if !r.out.IsFile() {
		return nil
	}
	return r.out.Rewrite(func(rec *Record) bool { return !r.cfg.again(rec) })
}

// tidy commits the output to the disk with one record for each id. For a finished run with Config.Ordered, it also
// sorts the records in the order of the input.
func (r *recorder) tidy(finished bool) error {
	err := r.out.Sync()
	if err == nil {
		err = r.compact()
	}
	if err == nil && finished && r.order != nil && r.out.IsFile() {
		err = r.out.Sort(func(rec *Record) (int, bool) {
			at, known := r.order.at[hashOf(rec.ID)]
			return at, known
		})
	}
	return err
}
