//go:build !linux

package proc

// SweepOrphans kills what dead hosts have left. It needs /proc: on this system it does nothing.
func SweepOrphans() (int, error) { return 0, nil }
