//go:build !linux

package proc

// Memory is not implemented on this system.
func Memory(int) (size int64, ok bool) { return 0, false }

// ancestorCookie returns "", because the environment of another process cannot be read on this system.
func ancestorCookie() string { return "" }
