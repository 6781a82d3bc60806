// Package fakes tells whether this process starts itself as a fake CLI, as tests and the demo do.
package fakes

import "sync/atomic"

var allowed atomic.Bool

// Allow is called by a process that installs fakes, or that is a test binary.
func Allow() { allowed.Store(true) }

// Allowed reports whether a CLI that is the program of this process is a fake. Otherwise it is a CLI like any other: a
// link to this program, which a CLI may have made in its own files.
func Allowed() bool { return allowed.Load() }
