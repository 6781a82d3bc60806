//go:build unix && !linux

package proc_test

// beHost does nothing: the tests with hosts of their own need Linux.
func beHost() {}
