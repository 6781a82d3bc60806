package live

import (
	"slices"
	"time"
)

const (
	// assumedStart limits the wait of a call, and the start time derived from a cold call, until a process of
	// the backend has started.
	assumedStart = 5 * time.Second
	// minPatience is the minimum time that a process may take to start.
	minPatience = 2 * time.Second
)

// mean is an exponentially weighted mean of durations. Zero means that nothing was measured.
type mean time.Duration

func (m *mean) add(d time.Duration) {
	if d = max(d, 1); *m == 0 {
		*m = mean(d)
		return
	}
	*m += (mean(d) - *m) / 4
}

// pace contains the measurements of a backend.
type pace struct {
	start mean // from the start of a process until it is ready
	cold  mean // duration of an answered cold call, from the start of its CLI
}

// usual returns how long the CLI usually takes to start; zero means unknown. Until a process was ready, the
// duration of a cold call is the limit, because it includes a start.
func (c *pace) usual() time.Duration {
	if c.start > 0 {
		return time.Duration(c.start)
	}
	return min(time.Duration(c.cold), assumedStart)
}

// coldStart returns how much longer a cold call takes than a turn; zero means unknown.
func (c *pace) coldStart() time.Duration {
	if c.cold == 0 {
		return c.usual()
	}
	return min(time.Duration(c.cold), c.usual())
}

// patience returns how long a process may take to start; zero means unknown and no limit.
func (c *pace) patience() time.Duration {
	if c.start > 0 {
		return max(2*time.Duration(c.start), minPatience)
	}
	if c.cold > 0 {
		return max(2*time.Duration(c.cold), minPatience)
	}
	return 0
}

// coldCall is a cold call in flight that a process could have answered.
type coldCall struct {
	name  string // of its backend
	began time.Time
}

// mayWait reports whether a call with the given number of calls ahead may continue to wait, and after which
// time to check again if nothing happens before. The caller holds mu.
func (p *Pool) mayWait(w *waiter, ahead int, now time.Time) (ok bool, again time.Duration) {
	queue := p.queue(w, now)
	switch {
	case p.cfg.Wait < 0 || len(queue.free) == 0:
		return false, 0
	case p.cfg.Wait > 0:
		left := p.cfg.Wait - now.Sub(w.since)
		return left > 0, left
	}
	cold := p.paceOf(w.name).coldStart()
	if cold == 0 {
		left := assumedStart - now.Sub(w.since)
		return left > 0 && p.measuring(w.name), left
	}
	cold = cold * time.Duration(max(p.starts(now)+1, p.cpus)) / time.Duration(p.cpus)
	turn, slope := queue.expect(ahead)
	return turn < cold, max((cold-turn)/slope, time.Millisecond)
}

// measuring reports whether a cold call of a backend is in flight.
func (p *Pool) measuring(name string) bool {
	return slices.ContainsFunc(p.colds, func(c *coldCall) bool { return c.name == name })
}

// starts counts the CLIs that are starting now and would share the processors with another start.
func (p *Pool) starts(now time.Time) (n int) {
	for _, one := range p.all {
		if one.phase == starting {
			n++
		}
	}
	for _, c := range p.colds {
		if now.Sub(c.began) < p.paceOf(c.name).coldStart() {
			n++
		}
	}
	return n
}

// queue is what the calls that wait for processes of a kind can expect.
type queue struct {
	free []time.Duration // when each process is expected to be free, in ascending order
	call time.Duration   // how long a call uses a process
}

// queue examines the processes that a waiting call can get. A cold call needs a start too, so the usual start
// time does not count as a wait. While a kind fails to start, its starting processes do not count.
func (p *Pool) queue(w *waiter, now time.Time) queue {
	k, usual := p.kindOf(w.key), p.paceOf(w.name).usual()
	turn, fresh := time.Duration(k.turn), time.Duration(k.fresh)
	q := queue{call: turn + fresh}
	for _, one := range p.all {
		age := now.Sub(one.since)
		switch {
		case one.key != w.key:
		case one.phase == starting:
			if k.failures < breakAfter {
				q.free = append(q.free, max(age-usual, 0))
			}
		case one.phase == asked:
			q.free = append(q.free, left(turn, age)+fresh)
			if k.turn == 0 {
				q.call = max(q.call, age)
			}
		default:
			q.free = append(q.free, left(fresh, age))
		}
	}
	slices.Sort(q.free)
	return q
}

// left returns how much longer something is expected to take. If it has taken longer than usual, it is expected
// to take the excess time once more.
func left(usual, age time.Duration) time.Duration {
	return max(usual-age, age-usual)
}

// expect returns how long a call with the given number of calls ahead waits, and the maximum rate at which that
// grows with time.
func (q queue) expect(ahead int) (wait, slope time.Duration) {
	n := len(q.free)
	rounds := time.Duration(ahead / n)
	return q.free[ahead%n] + rounds*q.call, rounds + 1
}
