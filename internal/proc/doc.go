// Package proc runs a program and owns everything that the program starts, until all of it has ended. It knows no CLI:
// it gets a path, arguments and an environment, and returns output and exit status.
//
// Killing a process, or its process group, is not enough for programs that start tools in sessions of their own, wrap
// a child, or leave daemons behind. [Run] therefore starts the program in a new session, marks its environment with a
// cookie, watches for its exit without reaping it, and after every run, successful or not, sweeps what is left:
// descendants, group, sessions, and whatever carries the cookie. Only then does it reap the program and return.
//
// # What is out of reach
//
// A descendant that forks twice, starts a session and clears its environment before Run has seen it gets away; a
// [ShimMain] process in between, or a delegated control group, prevents that. Work given to a daemon, such as a
// container engine, is no descendant. Without /proc only the process group is killed.
//
// # What a host process keeps
//
// As long as there are runs there is one watchdog, a shell of under 2 MB, that kills what this process leaves behind if
// it dies itself, with one open descriptor. Where the first process does not reap, this process is the parent of
// orphans meanwhile, and reaps those of its runs.
package proc
