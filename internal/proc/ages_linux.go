package proc

import "time"

// agesLast is how long the start times of a scan stay valid.
const agesLast = time.Minute

// unknownInode is the inode number that procfs lists if it could not create an inode.
const unknownInode = 1

// age is the start time of a process.
type age struct {
	pid   uint64
	inode uint64 // of its entry in /proc
	start uint64
}

// ages are the start times of the processes in the latest scan, in the order of the listing. With them, the
// next scan need not read processes that are too old to belong to a run. A machine may have thousands of
// processes, and listing an entry costs a tenth of reading it. Only the start time is stored, because every
// other property of a process may change.
//
// Two entries with the same PID and inode belong to the same process. The inode number says nothing about the
// age. The kernel numbers inodes of all kinds with 32-bit counters, one for each processor. It creates the
// inode of a process when the entry is first looked up, and again after it was dropped because memory was
// short. The kernel drops the entry when the process ends, before the PID is reused. Until Linux 6.15 the PID
// was free a few instructions earlier, so one listing may show the old entry, which also drops it. A second
// scan therefore finds every process, which is also necessary if a scan is delayed while PIDs are reused. An
// inode number can recur only after the counter has wrapped, which takes longer than agesLast. If a system
// assigns new numbers at each listing, or none, or lists entries in no order, every process is read.
//
// The zero value contains no start times. It is not safe for concurrent use.
type ages struct {
	known, next []age // known: the last scan, from the current entry; next: this scan
	spare       []age // the memory of known, for reuse
	seen        time.Time
}

// begin starts a scan.
func (a *ages) begin(now time.Time) {
	a.spare, a.next = a.next, a.spare[:0]
	a.known = a.spare
	if now.Sub(a.seen) > agesLast {
		a.known = nil
	}
	a.seen = now
}

// before reports whether the next listed process is known to have started before since.
func (a *ages) before(since, pid, inode uint64) bool {
	for len(a.known) > 0 && a.known[0].pid < pid {
		a.known = a.known[1:]
	}
	if len(a.known) == 0 || a.known[0].pid != pid || a.known[0].inode != inode || a.known[0].start >= since {
		return false
	}
	a.next = append(a.next, a.known[0])
	return true
}

// keep records the start time of a process that was read after it was listed. If the PID was reused in between,
// the start time is that of a younger process, which is safe.
func (a *ages) keep(p age) {
	if p.inode != unknownInode {
		a.next = append(a.next, p)
	}
}
