package batch

import (
	"context"
	"time"
)

// waitsEvery is the pause between two looks at what the lines wait for, while none is answered.
const waitsEvery = 5 * time.Second

// tellWaits says what the lines wait for when none runs and none was answered for a while. People see it without a
// terminal too.
func (r *run) tellWaits(ctx context.Context) {
	tick := time.NewTicker(waitsEvery)
	defer tick.Stop()
	done := -1
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		before, c := done, r.tally.now()
		if done = c.Done(); done != before || r.runs() > 0 || c.Rest.After(time.Now()) { // which onRest tells
			continue
		}
		id, waits := r.ids.first()
		if !waits {
			continue
		}
		w, err := r.store.queue.Waiting(ctx, r.store.outside(id))
		switch {
		case err != nil || w.Why == "":
		case w.Until.IsZero():
			r.notices.once("waits "+w.Why, "line %s and maybe others wait: %s", id, w.Why)
		default:
			r.notices.once("waits "+w.Why, "line %s and maybe others wait until %s: %s", id,
				w.Until.Local().Format("2006-01-02 15:04:05"), w.Why)
		}
	}
}
