// Package bench measures clichain beside what a user would pick instead: the same real CLIs over the loopback model
// server, by os/exec, xargs, and the libraries and programs of npm. docs/benchmarks.md is what its test writes.
package bench
