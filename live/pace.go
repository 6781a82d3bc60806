package live

import (
	"slices"
	"time"
)

const (
	// assumedStart bounds the wait of a call, and what a cold call tells of a start, until
	// a process of the backend has started.
	assumedStart = 5 * time.Second
	// minPatience is the least time that a process has to start.
	minPatience = 2 * time.Second
)

// mean is an exponentially weighted mean of durations. Zero: none was measured.
type mean time.Duration

func (m *mean) add(d time.Duration) {
	if d = max(d, 1); *m == 0 {
		*m = mean(d)
		return
	}
	*m += (mean(d) - *m) / 4
}

// pace is what a pool has measured of a backend.
type pace struct {
	start mean // from the start of a process until it is ready
	cold  mean // a cold call that was answered, from the start of its CLI
}

// usual is how long the CLI takes to start; zero: unknown. Before a process was ready, a
// cold call is the bound: it has a start in it.
func (c *pace) usual() time.Duration {
	if c.start > 0 {
		return time.Duration(c.start)
	}
	return min(time.Duration(c.cold), assumedStart)
}

// coldStart is what a cold call costs more than a turn; zero: unknown.
func (c *pace) coldStart() time.Duration {
	if c.cold > 0 && c.cold < c.start {
		return time.Duration(c.cold)
	}
	return c.usual()
}

// patience is how long a process may take to start; zero: unknown, there is no bound yet.
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

// mayWait reports whether a call that waits behind so many others may go on waiting, and
// after which time that has to be asked again, unless something happens before. The
// caller holds mu.
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

// starts counts the CLIs that start now, which share the processors with another start.
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
	free []time.Duration // when each process is expected to be free, the first one first
	call time.Duration   // for how long a call keeps a process
}

// queue looks at the processes that a waiting call can get. A start costs a cold call as
// much, so the usual time of it is no wait. A process of a kind that fails to start is
// not counted before it has started.
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

// left is how long something is expected to go on that has gone on for some time. What
// takes longer than usual is expected to take as long again as it is late.
func left(usual, age time.Duration) time.Duration {
	return max(usual-age, age-usual)
}

// expect is for how long a call waits that has so many ahead of it, and by how much that
// grows with the time, at most.
func (q queue) expect(ahead int) (wait, slope time.Duration) {
	n := len(q.free)
	rounds := time.Duration(ahead / n)
	return q.free[ahead%n] + rounds*q.call, rounds + 1
}
