package batchview

import "time"

// rate is how fast a count has grown of late. The zero value knows nothing.
type rate struct{ samples []sample }

type sample struct {
	at    time.Time
	count int
}

// window is what counts as of late.
const window = time.Minute

// add notes the count at a time, and forgets what is older than the window.
func (r *rate) add(at time.Time, count int) {
	r.samples = append(r.samples, sample{at, count})
	for len(r.samples) > 2 && at.Sub(r.samples[1].at) >= window {
		r.samples = r.samples[1:]
	}
}

// perSecond is zero where it is not known.
func (r *rate) perSecond() float64 {
	if len(r.samples) < 2 {
		return 0
	}
	first, last := r.samples[0], r.samples[len(r.samples)-1]
	took := last.at.Sub(first.at).Seconds()
	if took <= 0 {
		return 0
	}
	return float64(last.count-first.count) / took
}
