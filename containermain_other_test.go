//go:build !linux

package clichain_test

// playContainer: only Linux has containers.
func playContainer() {}

func stayOutside() {}
