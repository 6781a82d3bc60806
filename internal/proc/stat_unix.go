//go:build unix

package proc

// stat is a process as the system's table of processes shows it.
type stat struct {
	pid, parent, group, session, threads int

	state byte   // as /proc/PID/stat has it
	start uint64 // in a unit of the system; with pid it names a process for good
}

// alive returns false for a process that has ended and waits to be reaped. A program whose first thread has ended has
// the same state while other threads run, so the number of threads decides.
func (s stat) alive() bool {
	return s.state != 'Z' && s.state != 'X' && s.state != 'x' || s.threads > 1
}
