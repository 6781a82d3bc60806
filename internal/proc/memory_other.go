//go:build !linux

package proc

// Memory is not implemented on this system.
func Memory(int) (size int64, ok bool) { return 0, false }
