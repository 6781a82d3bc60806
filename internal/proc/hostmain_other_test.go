//go:build unix && !linux

package proc_test

// beHost does nothing: the tests with separate hosts need Linux.
func beHost() {}
