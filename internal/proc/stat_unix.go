//go:build unix

package proc

// stat is the entry of a process in the system's process table.
type stat struct {
	pid, parent, group, session, threads int

	state byte   // as in /proc/PID/stat
	start uint64 // in a unit of the system; unique together with pid
}

// alive returns false for a process that has ended and waits to be reaped. A process whose first thread has
// ended has the same state while other threads run, so the number of threads decides.
func (s stat) alive() bool {
	return s.state != 'Z' && s.state != 'X' && s.state != 'x' || s.threads > 1
}
