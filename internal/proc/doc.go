// Package proc runs a program and manages its process tree until every process has ended. It knows no CLI: it takes a
// path, arguments and an environment, and returns output and an exit code.
//
// Killing a process or its process group is not enough for programs that start tools in other sessions, wrap a child,
// or leave daemons behind. [Run] therefore starts the program in a new session, marks its environment with a cookie,
// and watches for its exit without reaping it. After every run, successful or not, Run kills the remaining processes:
// descendants, members of the group or of one of the sessions, and processes with the cookie. Only then does it reap
// the program and return.
//
// # Limits
//
// A descendant escapes if it forks twice, starts a session and clears its environment before Run has seen it. A
// [ShimMain] process in between, or a delegated control group, prevents that. Work that was given to a daemon, such
// as a container engine, is not a descendant. Without /proc, Run kills only the process group.
//
// # Resources of the host process
//
// While runs are active, one watchdog exists: a shell of less than 2 MB, connected through one open descriptor, that
// kills the processes of the runs if this process dies. If process 1 does not reap, this process becomes the parent
// of orphaned processes during the runs, and reaps those of its runs.
package proc
