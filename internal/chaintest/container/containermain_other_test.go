//go:build !linux

package container_test

// playContainer: only Linux has containers.
func playContainer() {}
