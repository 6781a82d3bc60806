//go:build unix && !linux

package clitest

// getsid is not known to the standard library here.
func getsid() int { return 0 }
