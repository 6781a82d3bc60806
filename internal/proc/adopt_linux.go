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

// reapers are the names of first processes that wait for all children without SIGCHLD.
var reapers = []string{"sh", "bash", "dash", "ash", "zsh", "busybox", "init", "linuxrc"}

// reapDelay is the longest time after which a first process that reaps has reaped a child. Some poll every few seconds.
const reapDelay = 30 * time.Second

// inheritance decides whether this process has to reap what its runs leave, because the first process, which would get
// it, does not: many containers have a server there, or "tail". It is safe for concurrent use.
type inheritance struct {
	mu    sync.Mutex
	known bool // that the first process does not reap
	left  stat
	since time.Time // when left was noted

	cannotReap func() bool // whether the first process cannot notice the end of a child
	stat       func(pid int) (stat, error)
}

var orphans = &inheritance{cannotReap: sync.OnceValue(firstCannotReap), stat: system.stat}

// adopt makes this process the parent of whatever loses its parent below it, until disown is called, where nobody else
// would reap that. What is not of a run is left alone here, and would stay a zombie for as long as this process lives:
// so it must be certain.
func adopt() (disown func()) {
	if inherits() || !orphans.needed(time.Now()) || unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return func() {}
	}
	return func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) } // it was allowed to set it
}

// inherits reports whether what loses its parent below this process becomes its child.
func inherits() bool {
	set, _ := subreaper()
	return os.Getpid() == 1 || set
}

// subreaper reports whether this process adopts what loses its parent below it, and whether the system knows of that.
func subreaper() (set, known bool) {
	var value int32
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&value)), 0, 0, 0)
	return err == nil && value != 0, err == nil
}

// needed reports whether the first process does not reap: it cannot, or has left there what an earlier run gave it.
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

// note takes the members of a run that has ended, and keeps one that was left to the first process.
func (h *inheritance) note(found []stat, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range found {
		if h.left.pid == 0 && s.parent == 1 && !s.alive() {
			h.left, h.since = s, now
		}
	}
}

// noteOrphans tells what a run has left to the first process.
func noteOrphans(found []stat) { orphans.note(found, time.Now()) }

// firstCannotReap reports whether the first process neither handles, ignores nor blocks SIGCHLD, has no second thread
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

// rememberEvery is 0, which means never, where others reap: the cookie finds processes whose parents have ended, and
// scans are expensive on systems with many processes. Where this process has to reap, it must have seen a process that
// ends by itself before it can tell it from the host's own children: a zombie shows no cookie.
func rememberEvery() time.Duration {
	if inherits() {
		return 200 * time.Millisecond
	}
	return 0
}
