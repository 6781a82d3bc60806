//go:build !linux

package proc

// ShimMain does nothing on this system.
func ShimMain() {}
