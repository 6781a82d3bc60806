//go:build unix

package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	cleanScans  = 2 // in a row end a sweep: one may miss a process whose parent it saw too early
	stuckScans  = 3 // in a row that found only processes we may not kill end it, too
	scanPause   = 500 * time.Microsecond
	maxPause    = 10 * time.Millisecond
	pauseFactor = 2
)

// sweep kills and scans until scans find nobody.
func (t *unixTree) sweep(patience time.Duration) swept {
	deadline := time.Now().Add(patience)
	leftovers := map[stat]bool{}
	clean, stuck, pause := 0, 0, scanPause
	for {
		found, err := t.scan()
		if err != nil {
			return t.sweepBlindly(deadline)
		}
		alive := t.alive(found, leftovers)
		switch {
		case len(alive) == 0:
			clean, stuck, pause = clean+1, 0, scanPause
		case t.kill(alive):
			clean, stuck = 0, 0
		default:
			clean, stuck = 0, stuck+1
		}
		if clean == cleanScans || stuck == stuckScans || time.Now().After(deadline) {
			t.members.reapOrphans(found)
			return swept{clean: clean == cleanScans, leftovers: len(leftovers)}
		}
		if clean == 0 { // what was killed needs a moment to go
			time.Sleep(pause)
			pause = min(pause*pauseFactor, maxPause)
		}
	}
}

// alive returns the members that have not ended, and counts those besides the leader.
func (t *unixTree) alive(found []stat, leftovers map[stat]bool) []stat {
	var alive []stat
	for _, s := range found {
		if !s.alive() {
			continue
		}
		alive = append(alive, s)
		if s.pid != t.pid() {
			leftovers[stat{pid: s.pid, start: s.start}] = true
		}
	}
	return alive
}

// kill kills the members and reports whether there is hope, that is, whether it may kill at least one of them.
func (t *unixTree) kill(alive []stat) (hope bool) {
	t.killGroup()
	for _, s := range alive {
		if system.kill(s) != unix.EPERM {
			hope = true
		}
	}
	return hope
}

// sweepBlindly does what can be done without a table of processes. That is not enough to call the tree clean.
func (t *unixTree) sweepBlindly(deadline time.Time) swept {
	t.killGroup()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
	return swept{}
}
