//go:build unix

package proc

import "time"

const (
	cleanScans  = 2  // empty scans in a row that end a sweep: one may miss a process whose parent it saw too early
	unsureScans = 50 // after so many, which take half a second, who is starting a program is not looked for
	scanPause   = 500 * time.Microsecond
	maxPause    = 10 * time.Millisecond
	pauseFactor = 2
)

// scanCount tells when scans of all processes have found nothing often enough. The zero value has seen none.
type scanCount struct {
	clean  int // scans in a row that found nothing
	unsure int // scans that found nothing, and could not tell of a process
	pause  time.Duration
}

// saw takes what a scan has found, and whether it could not tell of a process, which was starting a program.
func (c *scanCount) saw(found int, unsure bool) (clean bool) {
	switch {
	case found > 0:
		c.clean = 0
	case unsure && c.unsure < unsureScans:
		c.clean, c.unsure = 0, c.unsure+1
	default:
		c.clean, c.pause = c.clean+1, 0
	}
	return c.clean == cleanScans
}

// rest waits, unless the latest scan found nothing: what was killed, or starts a program, needs a moment.
func (c *scanCount) rest() {
	if c.clean > 0 {
		return
	}
	c.pause = min(max(c.pause*pauseFactor, scanPause), maxPause)
	time.Sleep(c.pause)
}
