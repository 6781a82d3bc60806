//go:build unix

package proc

import "time"

const (
	cleanScans  = 2  // empty scans in a row that end a sweep: one may miss a process whose parent it read too early
	unsureScans = 50 // limit for scans, half a second in total, that wait for processes that are starting a program
	scanPause   = 500 * time.Microsecond
	maxPause    = 10 * time.Millisecond
	pauseFactor = 2
)

// scanCount decides when enough scans of all processes have found nothing. The zero value has counted no scan.
type scanCount struct {
	clean  int // consecutive scans that found nothing
	unsure int // scans that found nothing but could not classify a process
	pause  time.Duration
}

// saw records a scan: how many processes it found, and whether it could not classify a process that was
// starting a program.
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

// backOff waits, unless the latest scan found nothing, so that a killed process can end and a starting program
// can finish its start.
func (c *scanCount) backOff() {
	if c.clean > 0 {
		return
	}
	c.pause = min(max(c.pause*pauseFactor, scanPause), maxPause)
	time.Sleep(c.pause)
}
