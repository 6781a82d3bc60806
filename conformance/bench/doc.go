// Package bench compares clichain with the tools that a user could choose instead. It runs the same real CLIs against
// the loopback model server through clichain, os/exec, xargs, and npm libraries and programs. Its test writes
// docs/reference/benchmarks.md.
package bench
