package fake

import (
	"runtime"
	"sync/atomic"
)

// Busy keeps all processors busy until the test ends, to test a program on a machine under load.
func Busy(t TB) {
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
