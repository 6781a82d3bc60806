package proc

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reapers are the names of programs that, as process 1, wait for all children without handling SIGCHLD.
var reapers = []string{"sh", "bash", "dash", "ash", "zsh", "busybox", "init", "linuxrc"}

// reapDelay is the maximum time in which a process 1 that reaps has reaped a child. Some poll every few
// seconds.
const reapDelay = 30 * time.Second

// inheritance decides whether this process must reap the orphaned processes of its runs, because process 1,
// their new parent, does not. In many containers, process 1 is a server or "tail". It is safe for concurrent
// use.
type inheritance struct {
	mu    sync.Mutex
	known bool // process 1 does not reap
	left  stat
	since time.Time // when left was recorded

	cannotReap func() bool // whether process 1 cannot notice the end of a child
	stat       func(pid int) (stat, error)
}

var orphans = &inheritance{cannotReap: sync.OnceValue(firstCannotReap), stat: system.stat}

// adopt makes this process the parent of orphaned processes below it, until disown is called, if process 1
// would not reap them. This process reaps only the processes of its runs. Any other orphan stays a zombie for
// the lifetime of this process, so adopt acts only if process 1 certainly does not reap.
func adopt() (disown func()) {
	if inherits() || !orphans.needed(time.Now()) || unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return func() {}
	}
	return func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) } // cannot fail after the first call succeeded
}

// inherits reports whether orphaned processes below this process become its children.
func inherits() bool {
	set, _ := subreaper()
	return os.Getpid() == 1 || set
}

// subreaper reports whether this process is a child subreaper, and whether the kernel supports that attribute.
func subreaper() (set, known bool) {
	var value int32
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&value)), 0, 0, 0)
	return err == nil && value != 0, err == nil
}

// needed reports whether process 1 does not reap: it cannot notice the end of a child, or it has not reaped the
// orphan that note recorded.
func (h *inheritance) needed(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known || h.cannotReap() {
		h.known = true
	} else if h.left.pid != 0 && now.Sub(h.since) > reapDelay {
		is, err := h.stat(h.left.pid)
		h.known = err == nil && is.start == h.left.start && is.parent == 1 && !is.alive()
		h.left = stat{}
	}
	return h.known
}

// note receives the members of a run that has ended, and records one that has become a zombie of process 1.
func (h *inheritance) note(found []stat, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range found {
		if h.left.pid == 0 && s.parent == 1 && !s.alive() {
			h.left, h.since = s, now
		}
	}
}

// noteOrphans records the members of a run that has ended.
func noteOrphans(found []stat) { orphans.note(found, time.Now()) }

// firstCannotReap reports whether process 1 neither handles, ignores nor blocks SIGCHLD, has no second thread
// that could wait for children, and is not one of the reapers.
func firstCannotReap() bool {
	status, err := os.ReadFile("/proc/1/status")
	if err != nil {
		return false
	}
	return cannotReap(string(status))
}

// cannotReap is firstCannotReap for the text of /proc/1/status.
func cannotReap(status string) bool {
	for line := range strings.Lines(status) {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch field {
		case "Name":
			if slices.Contains(reapers, value) {
				return false
			}
		case "Threads":
			if value != "1" {
				return false
			}
		case "SigBlk", "SigIgn", "SigCgt":
			mask, err := strconv.ParseUint(value, 16, 64)
			if err != nil || mask&(1<<(unix.SIGCHLD-1)) != 0 {
				return false
			}
		}
	}
	return true
}

// rememberEvery returns 0, which means never, unless this process must reap. The cookie finds processes whose
// parents have ended, and scans are expensive on systems with many processes. If this process must reap, it
// must have seen a member alive to distinguish it from other children of the host, because the cookie of a
// zombie cannot be read.
func rememberEvery() time.Duration {
	if inherits() {
		return 200 * time.Millisecond
	}
	return 0
}
