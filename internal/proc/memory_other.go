//go:build !linux

package proc

// Memory is not known here.
func Memory(int) (size int64, ok bool) { return 0, false }
