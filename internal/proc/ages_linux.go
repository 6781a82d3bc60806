package proc

import "time"

// agesLast is how long the ages of processes are believed after they were seen.
const agesLast = time.Minute

// unknownInode is what procfs lists where it could not make an inode.
const unknownInode = 1

// age says when a process started.
type age struct {
	pid   uint64
	inode uint64 // of its entry in /proc
	start uint64
}

// ages are when the processes of the latest scan started, in the order of the listing, so that the next scan need not
// read again what is too old to belong to a run: a machine may have thousands of processes, and the listing of an entry
// costs a tenth of reading it. Nothing else of a process is kept, since all but its start may change.
//
// An entry of the same id and inode is of the same process. The inode's number says nothing of an age: the kernel
// counts inodes of all kinds, in 32 bits, for each processor apart, and makes that of a process when the entry is first
// looked at, or again after memory was short. But it drops an entry at the end of its process, before the id is used
// again; until Linux 6.15 the id was free some instructions earlier, and then one listing may show the old entry, which
// drops it too. So two scans find what they are to find, as is with a scan that is held up while ids are used again. A
// number could come again when the count has gone round, which takes more than agesLast between two scans. A system
// that gives new numbers at each listing, or none, has all of them read, as does one that lists them in no order.
//
// The zero value knows nothing. It is not safe for concurrent use.
type ages struct {
	known, next []age // of the last scan, from the place of this one on; of this scan
	spare       []age // the memory of known
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

// before reports whether the process that is listed next is known to have started before since.
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

// keep takes the age of a process that was read after it was listed: at worst it is that of a younger one.
func (a *ages) keep(p age) {
	if p.inode != unknownInode {
		a.next = append(a.next, p)
	}
}
