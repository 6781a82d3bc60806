package batch

import "context"

func (r *run) openOutput() (err error) {
	if r.out, err = openOutput(r.cfg.Out, r.cfg.Stdout); err != nil {
		return err
	}
	if err = r.readOutput(); err == nil && len(r.superseded) > 0 { // a run with Changed was interrupted
		if err = r.out.compact(r.superseded); err == nil {
			r.ids, r.tally, r.superseded = newLedger(), newTally(), map[hash]int{}
			err = r.readOutput()
		}
	}
	if err != nil {
		_ = r.out.close()
		return err
	}
	r.tally.change(func(c *Counts) { c.Before = c.Done() })
	return nil
}

func (r *run) readOutput() error {
	return r.out.scan(func(rec *Record) {
		known, _, _ := r.ids.of(rec.ID)
		if known.state&stateDone != 0 {
			r.superseded[hashOf(rec.ID)]++
		}
		if !r.cfg.again(rec) && r.ids.done(rec) {
			r.tally.pay(rec)
			r.tally.add(rec)
		}
	})
}

// retryFailed removes what failed from the queue and then from the output: in this order it can be done again wherever
// it breaks off.
func (r *run) retryFailed(ctx context.Context) error {
	if !r.cfg.RetryFailed {
		return nil
	}
	if err := r.store.dropFailed(ctx, r.cfg.again); err != nil || !r.out.isFile() {
		return err
	}
	return r.out.rewrite(func(rec *Record) bool { return !r.cfg.again(rec) })
}

// tidy puts the output on the disk, with one record for each id, and at the end in the order of the input.
func (r *run) tidy(finished bool) error {
	err := r.out.sync()
	if err == nil {
		err = r.out.compact(r.superseded)
	}
	if err == nil && finished && r.order != nil && r.out.isFile() {
		err = r.out.sort(r.order.at)
	}
	return err
}
