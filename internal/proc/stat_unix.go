//go:build unix

package proc

// stat is a process as the system's table of processes shows it.
type stat struct {
	pid, parent, group, session, threads int

	state byte   // as /proc/PID/stat has it
	start uint64 // in a unit of the system; with pid it names a process for good
}

// alive tells processes from those that have ended and wait to be reaped. A program whose first thread has ended looks
// like the latter while others run on.
func (s stat) alive() bool {
	switch s.state {
	case 'Z', 'X', 'x':
		return s.threads > 1
	}
	return true
}
