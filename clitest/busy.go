package clitest

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// Busy keeps all processors at work until the test ends, so that a test sees what
// a program does on a machine under load.
func Busy(t testing.TB) {
	t.Helper()
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	for range 2 * runtime.GOMAXPROCS(0) {
		go func() {
			for !over.Load() {
			}
		}()
	}
}
