package batchview

import "time"

// rate measures the recent growth of a count. The zero value has no measurements.
type rate struct{ samples []sample }

type sample struct {
	at    time.Time
	count int
}

// window is the age of the oldest measurement.
const window = time.Minute

// add records the count at a time, and drops measurements that are older than the window.
func (r *rate) add(at time.Time, count int) {
	r.samples = append(r.samples, sample{at, count})
	for len(r.samples) > 2 && at.Sub(r.samples[1].at) >= window {
		r.samples = r.samples[1:]
	}
}

// perSecond returns the growth per second, or 0 if it is unknown.
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
